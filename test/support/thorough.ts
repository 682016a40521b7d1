/** `npm run test:long` sets it: more runs of what `npm test` runs as often as it can afford. */
export const isLong = process.env.OFFHOOK_TEST_LONG === '1';

/** What a test tries in `npm test`, and in `npm run test:long`. */
export function thorough<Value>(short: Value, long: Value): Value {
  return isLong ? long : short;
}
