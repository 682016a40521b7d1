/** A two-pole resonance or a one-pole slope, one sample at a time. */
export type Filter = (sample: number) => number;

/** Lets pass what is below, falling 6 dB an octave above. */
export function lowPass(cornerHz: number, rateHz: number): Filter {
  const step = 1 - Math.exp((-2 * Math.PI * cornerHz) / rateHz);
  let held = 0;
  return (sample) => {
    held += step * (sample - held);
    return held;
  };
}

/** Lets pass what is above. */
export function highPass(cornerHz: number, rateHz: number): Filter {
  const low = lowPass(cornerHz, rateHz);
  return (sample) => sample - low(sample);
}

/** Rings at one frequency; roughly unit gain there. */
export function resonance(centreHz: number, widthHz: number, rateHz: number): Filter {
  const radius = Math.exp((-Math.PI * widthHz) / rateHz);
  const turn = 2 * radius * Math.cos((2 * Math.PI * centreHz) / rateHz);
  let [last, before] = [0, 0];
  return (sample) => {
    const out = (1 - radius) * 2 * sample + turn * last - radius * radius * before;
    [before, last] = [last, out];
    return out;
  };
}
