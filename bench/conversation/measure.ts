// Turn-taking, interruptions and what was heard, measured over real sockets in real time.
// Run: npm run bench:conversation -- [--json] [--quick] [--calls N] [--only SETS]
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { Batches } from './batches.ts';
import { LONG_REPLY, SENTENCES, SHORT_REPLIES } from './bots/words.ts';
import { Harness } from './harness.ts';
import { measureInterruptionSet } from './measure-interruptions.ts';
import { makeStimuli } from './stimuli.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    calls: { type: 'string', default: '8' },
    only: { type: 'string', default: 'interruptions' },
    human: { type: 'string', default: new URL('../../../shared/audio/human', import.meta.url).pathname },
  },
});
const SEED = 20_260;
const sets = new Set(values.only.split(','));
const size = (full: number, quick: number): number => (values.quick ? quick : full);

const startedMs = performance.now();
const stimuli = await makeStimuli(SEED, 60, values.human);
const truth = stimuli.map(({ words }) => words);
const harness = await Harness.start({ truth, sentences: [...SENTENCES, ...SHORT_REPLIES, LONG_REPLY] });
const batches = new Batches(harness, Number(values.calls));

const result = {
  machine: { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version, calls: batches.calls },
  ...(sets.has('interruptions')
    ? await measureInterruptionSet(batches, stimuli, { speech: size(500, 24), human: size(250, 16) }, SEED)
    : {}),
  batches: batches.reports,
  tookMinutes: 0,
};
await harness[Symbol.asyncDispose]();
result.tookMinutes = Math.round((performance.now() - startedMs) / 6_000) / 10;
process.stdout.write(`${JSON.stringify(result, null, values.json ? 0 : 2)}\n`);
