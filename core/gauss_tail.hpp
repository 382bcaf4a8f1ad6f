// The coefficients of P: the normal distribution's tail from a on, the integral of its density, is
// exp(-a^2 / 2) * t * P(1 - 8 * t) with t = 1 / (a + 4). P is a minimax polynomial of degree 26, within
// 2^-59.
#pragma once

namespace relayout {

/// Those of q^26 to q^3, as the elements of an array: kernels have arrays of their own.
#define RELAYOUT_GAUSS_TAIL                                                                          \
  -4.495204721257417e-11, 1.175478991480774e-10, 6.325195377466816e-10, -8.546521899880147e-10,      \
      -4.57068646415335e-09, 1.4329918401088613e-09, 2.2833760070320693e-08, 1.4630727405651175e-08, \
      -8.838447972307543e-08, -1.5650236463993106e-07, 2.73568947907429e-07, 1.0225604158296038e-06, \
      -6.303897230472221e-07, -5.920586519556891e-06, 7.168479446346122e-07, 3.514479478753355e-05,  \
      -1.908289705282615e-06, -0.00023109495324019437, 0.00013334431578740138, 0.001630818459394586, \
      -0.003479692367605836, -0.00754018896682524, 0.06039657489094323, -0.18652185795965484

/// Those of q^2, q and 1, whose rounding a result of f64 would show, and what each has lost.
constexpr double kGaussTail2 = 0.3871374007422145, kGaussTail2Low = -1.2295756589826734e-17,
                 kGaussTail1 = -0.6078966419718921, kGaussTail1Low = -4.2359363037609296e-17,
                 kGaussTail0 = 0.7552851304157515, kGaussTail0Low = -2.21526391433646e-17;

}  // namespace relayout
