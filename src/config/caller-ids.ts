/** A number, or a series of numbers, that outbound calls may come from. */
export interface CallerId {
  /** E.164; of a series what its numbers begin with. */
  readonly number: string;
  readonly isSeries: boolean;
  /** The carrier that has it; any when absent. */
  readonly carrier: string | undefined;
}

const FORM = /^(\+[1-9]\d{0,14})(\*?)(?:@([a-z][a-z0-9-]*))?$/u;

/**
 * Reads the setting `dialling.callerIds`: `+14155550100, +91140*, +442071838750@vonage`.
 * @returns the numbers, and every invalid entry
 */
export function readCallerIds(text = ''): { readonly callerIds: readonly CallerId[]; readonly wrong: readonly string[] } {
  const callerIds: CallerId[] = [];
  const wrong: string[] = [];
  for (const entry of text.split(',').map((each) => each.trim())) {
    if (entry === '') continue;
    const [, number = '', star, carrier] = FORM.exec(entry) ?? [];
    const isSeries = star === '*';
    if (isSeries ? number.length > 2 : number.length > 6) callerIds.push({ number, isSeries, carrier });
    else wrong.push(entry);
  }
  return { callerIds, wrong };
}

/** The entry that allows a number at a carrier; undefined without one. A single number takes precedence over its series. */
export function callerIdOf(callerIds: readonly CallerId[], number: string, carrier?: string): CallerId | undefined {
  const fitting = callerIds.filter(
    (each) =>
      (each.isSeries ? number.startsWith(each.number) : number === each.number) &&
      (carrier === undefined || each.carrier === undefined || each.carrier === carrier),
  );
  return fitting.find(({ isSeries }) => !isSeries) ?? fitting[0];
}
