/** The calls of the list that was looked at last, in its order: the page of one call leads on to its neighbours. */
let ids: readonly string[] = [];
let address = '/calls';

/** Keeps what a list shows. @param at its address below `/console`, with its filters */
export function rememberCalls(shown: readonly string[], at: string): void {
  [ids, address] = [shown, at];
}

/** Where a call stands in the list that was looked at last; undefined where it is in none, as after a link from outside. */
export function placeInList(
  callId: string,
): { readonly at: number; readonly of: number; readonly before?: string; readonly after?: string } | undefined {
  const at = ids.indexOf(callId);
  if (at === -1) return undefined;
  const [before, after] = [ids[at - 1], ids[at + 1]];
  return { at: at + 1, of: ids.length, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

/** The address of that list. */
export function listAddress(): string {
  return address;
}
