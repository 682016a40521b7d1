/** The two numbers of a call, and who called whom. */
export interface CallParties {
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound';
}

/** Whose number is whose: `person` is who talks to the bot, `ours` the number that the bot has. */
export function partiesOf({ from, to, direction }: CallParties): { readonly person: string; readonly ours: string } {
  return direction === 'outbound' ? { person: to, ours: from } : { person: from, ours: to };
}
