// Turn-taking, interruptions and what was heard, measured over real sockets in real time.
// Run: npm run bench -- conversation [--json] [--quick] [--calls N] [--only SETS]
import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { Batches } from './batches.ts';
import { LONG_REPLY, SENTENCES, SHORT_REPLIES } from './bots/words.ts';
import { Harness } from './harness.ts';
import { measureCutSet } from './measure-cuts.ts';
import { measureFalseAlarmSet } from './measure-false-alarms.ts';
import { measureHoleSet } from './measure-holes.ts';
import { measureInterruptionSet } from './measure-interruptions.ts';
import { measureTurnSet } from './measure-turns.ts';
import { measureContracts, measureEcho } from './elsewhere.ts';
import { makeStimuli } from './stimuli.ts';

const SETS = ['interruptions', 'false-alarms', 'cuts', 'turns', 'holes', 'echo', 'contracts'];
const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    calls: { type: 'string', default: '8' },
    only: { type: 'string', default: SETS.join(',') },
    human: { type: 'string', default: new URL('../../../shared/audio/human', import.meta.url).pathname },
  },
});
const SEED = 20_260;
const sets = new Set(values.only.split(','));
const unknown = [...sets].filter((set) => !SETS.includes(set));
if (unknown.length > 0) throw new TypeError(`no set ${unknown.join(', ')}; there are ${SETS.join(', ')}`);
const size = (full: number, quick: number): number => (values.quick ? quick : full);

const startedMs = performance.now();
const stimuli = await makeStimuli(SEED, 60, values.human);
const truth = stimuli.map(({ words }) => words);
const harness = await Harness.start({ truth, sentences: [...SENTENCES, ...SHORT_REPLIES, LONG_REPLY] });
const batches = new Batches(harness, Number(values.calls));

const measured: Record<string, unknown> = {};
if (sets.has('interruptions')) {
  const counts = { speech: size(500, 24), human: size(250, 16) };
  Object.assign(measured, await measureInterruptionSet(batches, stimuli, counts, SEED));
}
if (sets.has('false-alarms')) {
  const counts = { trials: size(1_000, 60), quietCallSeconds: size(600, 70) };
  Object.assign(measured, await measureFalseAlarmSet(batches, stimuli, counts, SEED));
}
if (sets.has('cuts')) Object.assign(measured, await measureCutSet(batches, stimuli, size(1_000, 32), SEED));
if (sets.has('turns')) {
  const counts = { turns: size(1_000, 40), callMinutes: size(10, 0.7) };
  Object.assign(measured, await measureTurnSet(batches, stimuli, counts, SEED));
}
if (sets.has('holes')) Object.assign(measured, await measureHoleSet(batches, stimuli, size(40, batches.calls)));
await harness[Symbol.asyncDispose]();
if (sets.has('echo')) {
  measured['echo'] = await measureEcho('synthesized', values.quick);
  if (existsSync(values.human)) measured['echoHuman'] = await measureEcho('human', values.quick);
}
if (sets.has('contracts')) measured['contracts'] = await measureContracts(values.quick);

const result = {
  machine: { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version, calls: batches.calls },
  ...measured,
  batches: batches.reports,
  tookMinutes: Math.round((performance.now() - startedMs) / 6_000) / 10,
};
process.stdout.write(`${JSON.stringify(result, null, values.json ? 0 : 2)}\n`);
