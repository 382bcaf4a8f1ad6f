"""How a user of JAX would do the suite `elementwise`: the formula, compiled. XLA reads transposed and sliced operands in
place."""

import jax
import jax.numpy as jnp

from elementwise_formulas import expression
from formulas import NoRoute

FUNCTIONS = {"add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "maximum": jnp.maximum, "greater": jnp.greater,
             "less": jnp.less, "logical_and": jnp.logical_and, "clip": jnp.clip, "sqrt": jnp.sqrt, "exp": jnp.exp,
             "tanh": jnp.tanh, "sigmoid": jax.nn.sigmoid, "relu": jax.nn.relu, "silu": jax.nn.silu,
             "gelu": lambda a: jax.nn.gelu(a, approximate=False)}


def function_of(parameters):
    """The case as a function of its inputs."""
    if "pow" in parameters["functions"]:
        raise NoRoute("jnp.power looks at no more than 6 bits of an integer exponent")
    return expression(parameters, FUNCTIONS, jnp.transpose)
