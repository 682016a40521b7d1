// Turn-taking, interruptions and what was heard, measured over real sockets in real time.
// Run: npm run bench -- conversation [--json] [--quick] [--calls N] [--only SETS]
import { printDocument, readOptions, round } from '../document.ts';
import { HUMAN_FOLDER } from '../recordings.ts';
import { Batches } from './batches.ts';
import { LONG_REPLY, SENTENCES, SHORT_REPLIES } from './bots/words.ts';
import { Harness } from './harness.ts';
import { measureCutSet } from './measure-cuts.ts';
import { measureFalseAlarmSet } from './measure-false-alarms.ts';
import { measureInterruptionSet } from './measure-interruptions.ts';
import { measureTurnSet } from './measure-turns.ts';
import { makeStimuli } from './stimuli.ts';

const SETS = ['interruptions', 'false-alarms', 'cuts', 'turns'];
const values = readOptions({ quick: false, calls: '8', only: SETS.join(','), human: HUMAN_FOLDER });
const SEED = 20_260;
const sets = new Set(values.only.split(','));
const unknown = [...sets].filter((set) => !SETS.includes(set));
if (unknown.length > 0) throw new TypeError(`no set ${unknown.join(', ')}; there are ${SETS.join(', ')}`);
const size = (full: number, quick: number): number => (values.quick ? quick : full);

const startedMs = performance.now();
const stimuli = await makeStimuli(SEED, 60, values.human);
const truth = stimuli.map(({ words }) => words);
const harness = await Harness.start(truth, [...SENTENCES, ...SHORT_REPLIES, LONG_REPLY]);
const batches = new Batches(harness, Number(values.calls));

const measured: Record<string, unknown> = {};
if (sets.has('interruptions')) {
  const counts = { speech: size(500, 24), human: size(250, 16) };
  Object.assign(measured, await measureInterruptionSet(batches, stimuli, counts, SEED));
}
if (sets.has('false-alarms')) Object.assign(measured, await measureFalseAlarmSet(batches, stimuli, size(1_000, 60), SEED));
if (sets.has('cuts')) Object.assign(measured, await measureCutSet(batches, stimuli, size(1_000, 32), SEED));
if (sets.has('turns')) {
  const counts = { turns: size(1_000, 40), callMinutes: size(10, 0.7) };
  Object.assign(measured, await measureTurnSet(batches, stimuli, counts, SEED));
}
await harness[Symbol.asyncDispose]();
printDocument({
  calls: batches.calls,
  ...measured,
  batches: batches.reports,
  tookMinutes: round((performance.now() - startedMs) / 60_000),
});
