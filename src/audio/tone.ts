/** Random numbers in [0, 1), the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** @param amplitude peak, 0 to 1 */
export function sine(frequencyHz: number, durationMs: number, rateHz: number, amplitude = 0.3): Int16Array {
  const step = (2 * Math.PI * frequencyHz) / rateHz;
  return Int16Array.from({ length: Math.round((durationMs * rateHz) / 1000) }, (_, index) =>
    Math.round(Math.sin(index * step) * amplitude * 32_767),
  );
}

/** White noise. @param amplitude peak, 0 to 1 */
export function noise(durationMs: number, rateHz: number, amplitude: number, random: () => number): Int16Array {
  return Int16Array.from({ length: Math.round((durationMs * rateHz) / 1000) }, () =>
    Math.round((random() * 2 - 1) * amplitude * 32_767),
  );
}

/** The telephone keys by row, with the row's and the columns' frequencies in Hz (ITU-T Q.23). */
const KEY_ROWS = [
  { keys: '123A', hz: 697 },
  { keys: '456B', hz: 770 },
  { keys: '789C', hz: 852 },
  { keys: '*0#D', hz: 941 },
];
const COLUMNS_HZ = [1209, 1336, 1477, 1633];

/** The tone of a key. @throws RangeError for anything but 0-9, *, #, A-D */
export function dtmf(key: string, durationMs: number, rateHz: number): Int16Array {
  const row = KEY_ROWS.find(({ keys }) => key.length === 1 && keys.includes(key));
  const columnHz = row && COLUMNS_HZ[row.keys.indexOf(key)];
  if (row === undefined || columnHz === undefined) {
    throw new RangeError(`no telephone key ${JSON.stringify(key)}; keys are 0-9, *, #, A-D`);
  }
  const low = sine(row.hz, durationMs, rateHz, 0.2);
  const high = sine(columnHz, durationMs, rateHz, 0.2);
  return low.map((sample, index) => sample + (high[index] ?? 0));
}

/** The tone after which a message is recorded: half a second of 1,000 Hz, as loud as a voice. */
export function beep(rateHz: number): Int16Array {
  return sine(1_000, 500, rateHz, 0.15);
}

/** What a caller hears while another phone rings, softly: a second of tone in four, to be repeated. */
export function ringingTone(rateHz: number): Int16Array {
  const loop = new Int16Array(4 * rateHz);
  const [low, high] = [sine(400, 1_000, rateHz, 0.012), sine(450, 1_000, rateHz, 0.012)];
  loop.set(low.map((sample, index) => sample + (high[index] ?? 0)));
  return loop;
}
