/** The two numbers of a call, and its direction. */
export interface CallParties {
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound';
}

/** Assigns a call's numbers: `person` talks to the bot, `ours` is the bot's number. */
export function partiesOf({ from, to, direction }: CallParties): { readonly person: string; readonly ours: string } {
  return direction === 'outbound' ? { person: to, ours: from } : { person: from, ours: to };
}
