import fc from 'fast-check';

/** The same verdict every time, for everyone; `FC_SEED=random` looks for what no seed has found yet, and prints the one that has. */
const seed = process.env.FC_SEED ?? '20261121';
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });
