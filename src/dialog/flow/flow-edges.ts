import type { Flow, StateDocument } from './schema.ts';

/** A place in a flow that names a state. */
export interface FlowEdge {
  readonly path: string;
  readonly to: string;
}

/** Where one state may lead by what is written in it. */
export function edgesOfState(name: string, state: StateDocument): FlowEdge[] {
  const at = `states.${name}`;
  const { next, confirm, ask, request } = state;
  const edges: FlowEdge[] = [];
  if (typeof next === 'string') edges.push({ path: `${at}.next`, to: next });
  else if (Array.isArray(next)) edges.push(...next.map(({ go }, index) => ({ path: `${at}.next.${index}.go`, to: go })));
  else for (const [answer, to] of Object.entries(next ?? {})) edges.push({ path: `${at}.next.${answer}`, to });
  if (confirm !== undefined) {
    edges.push({ path: `${at}.confirm.yes`, to: confirm.yes });
    for (const [part, to] of Object.entries(confirm.parts)) edges.push({ path: `${at}.confirm.parts.${part}`, to });
  }
  if (request !== undefined) {
    const { failed, unset } = request;
    if (typeof failed === 'string') edges.push({ path: `${at}.request.failed`, to: failed });
    else for (const [failure, to] of Object.entries(failed)) edges.push({ path: `${at}.request.failed.${failure}`, to });
    if (unset !== undefined) edges.push({ path: `${at}.request.unset`, to: unset });
  }
  const giveUp = ask?.giveUp ?? confirm?.giveUp;
  if (giveUp !== undefined) edges.push({ path: `${at}.${ask === undefined ? 'confirm' : 'ask'}.giveUp`, to: giveUp });
  return edges;
}

/** Where a conversation may begin or jump to from anywhere. */
export function entriesOf(flow: Flow): FlowEdge[] {
  const entries: FlowEdge[] = [{ path: 'start', to: flow.start }];
  if (flow.giveUp !== undefined) entries.push({ path: 'giveUp', to: flow.giveUp });
  for (const [name, command] of Object.entries(flow.commands)) {
    if (command !== false && command.go !== undefined) entries.push({ path: `commands.${name}.go`, to: command.go });
  }
  return entries;
}
