// How fast the embedded platform answers. Run: npm run bench -- platform [--json]
// The platform is a process of its own, held to one core where `taskset` is installed; this client uses the others.
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { usageOf } from '../capacity/processor.ts';
import { resample } from '../../src/audio/resample.ts';
import { printDocument, type Quantiles, quantiles } from '../document.ts';
import { type Addresses, mint, openListener, openSpeaker, RATE_HZ } from './wire.ts';

const ROUNDS = 50;
const SESSIONS = 16;
const SESSION_TURNS = 6;
const GOAL_MS = 150;

const sentences = [
  ['Nisha', 'Your appointment is on Tuesday at half past ten.'],
  ['Rajesh', 'आपका अपॉइंटमेंट मंगलवार को साढ़े दस बजे है।'],
  ['Varun', 'Thank you for calling. Please tell me how I can help you today.'],
  ['Sunita', 'नमस्ते, मैं आपकी क्या मदद कर सकती हूँ?'],
] as const;
const paragraph =
  'Thank you for calling the clinic. We are open from nine in the morning until six in the evening, Monday to Saturday. If you want to book, change or cancel an appointment, just say so, and I will look for a time that suits you. If this is an emergency, please hang up and dial the number for an ambulance at once.';
const phrases = ['Tuesday at half past ten', 'speak to a person', 'yes please', 'half past ten', 'no thank you'];

const pinner = 'taskset';
const pinned = spawnSync(pinner, ['--version']).error === undefined;
const command = [process.execPath, '--import', import.meta.resolve('tsx'), new URL('serve.ts', import.meta.url).pathname];
const [program, ...args] = pinned ? [pinner, '-c', '0', ...command] : command;
const server = spawn(program!, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const addresses = await new Promise<Addresses>((resolve, reject) => {
  createInterface(server.stdout).once('line', (line) => resolve(JSON.parse(line) as Addresses));
  server.once('exit', (code) => reject(new Error(`the platform ended with ${code}`)));
});

const token = await mint(addresses);
const speaker = await openSpeaker(addresses, token);
for (const [voice, text] of sentences) await speaker.speak(text, voice);

const firstAudio: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const [voice, text] = sentences[round % sentences.length]!;
  firstAudio.push((await speaker.speak(text, voice)).firstMs);
}
const paragraphFirst: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) paragraphFirst.push((await speaker.speak(paragraph, 'Nisha')).firstMs);

const spoken: Int16Array[] = [];
for (const phrase of phrases) spoken.push(resample((await speaker.speak(phrase, 'Nisha')).pcm, 24_000, RATE_HZ));
speaker.close();

const finals: number[] = [];
let understood = 0;
const listener = await openListener(addresses, token, 'en');
await listener.hear(spoken[0]!);
for (let round = 0; round < ROUNDS; round += 1) {
  const { finalMs, text } = await listener.hear(spoken[round % spoken.length]!);
  finals.push(finalMs);
  if (text !== '') understood += 1;
}
listener.close();

const before = cpuSeconds(server.pid!);
const beganMs = performance.now();
const together = await Promise.all(Array.from({ length: SESSIONS }, (_, index) => session(index)));
const wallS = (performance.now() - beganMs) / 1000;
const corePercent = Math.round(((cpuSeconds(server.pid!) - before) / wallS) * 100);

printDocument({
  platformOnOneCore: pinned,
  firstAudioMs: goal(firstAudio),
  firstAudioOfAParagraphMs: goal(paragraphFirst),
  finalAfterCommitMs: { ...goal(finals), understood },
  sixteenSessions: {
    sessions: SESSIONS,
    finalAfterCommitMs: goal(together.flat()),
    corePercent,
    keptUp: Math.max(...together.flat()) < 1000 && corePercent < 95,
  },
});
server.stdin.end();

function goal(values: readonly number[]): Quantiles & { goalMs: number; met: boolean } {
  const measured = quantiles(values);
  return { ...measured, goalMs: GOAL_MS, met: (measured.p95 ?? Infinity) <= GOAL_MS };
}

/** One of many callers: begins a little later than the one before, and speaks phrase after phrase. */
async function session(index: number): Promise<number[]> {
  await new Promise((resolve) => setTimeout(resolve, 130 * index));
  const caller = await openListener(addresses, token, 'en');
  const waits: number[] = [];
  for (let turn = 0; turn < SESSION_TURNS; turn += 1) {
    waits.push((await caller.hear(spoken[(index + turn) % spoken.length]!)).finalMs);
  }
  caller.close();
  return waits;
}

/** Processor time of a process and those it started, in seconds. */
function cpuSeconds(pid: number): number {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return children.reduce((sum, child) => sum + cpuSeconds(child), usageOf(pid).cpuMs / 1000);
}
