"""Drafts that are verified together: trees of them, and the state behind each. By torch's operations around one
depthwise_update, in which every draft is a sequence of its own behind the samples of its ancestors."""
import torch

import relayout
from relayout import _serving
from relayout._causal import activation_name, i32, taken


def parents_of(next_token, next_sibling):
    """Each draft's parent, [batch, drafts], from each draft's first child and next sibling, where -1 is none. A draft that
    nobody names has parent 0."""
    batch, drafts = next_token.shape
    numbers = torch.arange(drafts, device=next_token.device).expand(batch, drafts)

    def inverse(of, missing):
        """Who names each draft."""
        named = torch.where((of >= 0) & (of < drafts), of.long(), drafts)
        padded = torch.cat([missing, missing[:, :1]], 1)
        return padded.scatter(1, named, numbers)[:, :drafts]

    # The eldest sibling of each draft is found in steps that double, then its parent.
    eldest = inverse(next_sibling, numbers)
    for _ in range(max(1, drafts - 1).bit_length()):
        eldest = eldest.gather(1, eldest)
    return inverse(next_token, torch.zeros_like(numbers)).gather(1, eldest)


def _ancestors(parents, taps):
    """[batch, drafts, taps]: each draft behind its last taps - 1 ancestors, as columns of the window before all drafts,
    taps - 1 columns, with the drafts behind it."""
    drafts = parents.shape[1]
    one = torch.arange(drafts, device=parents.device).expand_as(parents)
    columns = [one]
    for _ in range(taps - 1):
        one = torch.where(one > 0, parents.gather(1, one.clamp(min=0)), one - 1)
        columns.insert(0, one)
    return torch.stack(columns, 2) + (taps - 1)


@torch.no_grad()
def update(x, conv_state, weight, bias, activation, conv_state_indices, null_id, num_accepted_tokens=None, windows=None,
           window_indices=None, next_token=None, next_sibling=None, parent_token=None):
    """x [batch, dim] or [batch, dim, drafts] to a new tensor. conv_state moves on as if the drafts followed each other. With
    windows [lines, drafts, dim, width - 1] the state behind draft t of sequence b goes to windows[window_indices[b], t].
    With next_token and next_sibling [batch, drafts] the drafts are trees, whose parents go to parent_token, if given.
    Sequences without a line leave everything as it is; their rows of windows must be no other sequence's."""
    given = (x.unsqueeze(-1) if x.dim() == 2 else x).to(conv_state.dtype)
    (batch, dim, drafts), taps = given.shape, weight.shape[1]
    each = torch.arange(batch, device=x.device)
    lines = each if conv_state_indices is None else conv_state_indices[:batch].long()
    there = (lines >= 0) & (lines < conv_state.shape[0])
    if null_id is not None:
        there &= lines != null_id
    lines = torch.where(there, lines, 0)
    if next_token is None:
        parents = (torch.arange(drafts, device=x.device) - 1).clamp(min=0).expand(batch, drafts)
    else:
        parents = parents_of(next_token[:batch, :drafts], next_sibling[:batch, :drafts])
        if parent_token is not None:
            old = parent_token[:batch, :drafts]
            old.copy_(torch.where(there[:, None], parents.to(old.dtype), old))
    first = torch.zeros_like(lines) if num_accepted_tokens is None else num_accepted_tokens[:batch].long() - 1
    first = first.clamp(0, conv_state.shape[2] - (taps - 1))  # as depthwise_update moves a wrong number inside
    columns = first[:, None] + torch.arange(taps - 1, device=x.device)
    # [batch, columns, dim]: channels side by side.
    row = torch.cat([conv_state.transpose(1, 2)[lines[:, None], columns], given.transpose(1, 2)], 1)
    before = row[each[:, None, None], _ancestors(parents, taps)[..., :-1]]  # [batch, drafts, taps - 1, dim]
    states = before.reshape(batch * drafts, taps - 1, dim).transpose(1, 2)
    samples = given.transpose(1, 2).reshape(batch * drafts, dim, 1)
    out = relayout.depthwise_update(states, samples, taken(weight, given), taken(bias, given),
                                    activation=activation_name(_serving.is_silu(activation)), out=torch.empty_like(samples))
    if windows is not None:
        indices = each if window_indices is None else window_indices[:batch].long().clamp(0, windows.shape[0] - 1)
        places = indices[:, None], torch.arange(drafts, device=x.device)
        after = states.reshape(batch, drafts, dim, taps - 1).to(windows.dtype)
        kept = windows[..., :taps - 1]
        kept[places] = torch.where(there[:, None, None, None], after, kept[places])
    _serving.update(given, conv_state, weight, bias, activation, conv_state_indices, (null_id,),
                    num_accepted_tokens=i32(num_accepted_tokens))
    return out.reshape(batch, drafts, dim).transpose(1, 2).reshape(x.shape).to(x.dtype)
