import fc from 'fast-check';

/** Random means a printed seed; CI fixes it so that its verdict is the same every time. */
const fixed = process.env.FC_SEED;
if (fixed !== undefined) fc.configureGlobal({ seed: Number(fixed) });
