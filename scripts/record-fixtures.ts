// Holds the calls of test/fixtures/calls anew with a simulated caller, a whole gateway and the embedded platform, in real
// time. Run it after a change that is meant to decide otherwise: `npm run record:fixtures`, with names for some of them;
// with --accept the calls stay, and what is decided in them now is what is expected from here on.
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../src/hosts/app.ts';
import { noise, seededRandom } from '../src/audio/tone.ts';
import { loadVoiceActivity } from '../src/audio/voice-activity/voice-activity.ts';
import { compareCalls } from '../src/rehearsal/replay/compare.ts';
import { readFixture, writeFixture } from '../src/rehearsal/replay/fixture-file.ts';
import { replayCall } from '../src/rehearsal/replay/replay-call.ts';
import { requireConfiguration } from '../src/cli/setup/configuration.ts';
import { speechSource } from '../src/cli/setup/speech-settings.ts';
import { readDevSecret } from '../src/config/own-secrets.ts';
import { parseAction } from '../src/dialog/action-schema.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { silentLogger } from '../src/observability/logger.ts';
import { type CallerStep, ScriptedCaller } from '../src/sim/caller/caller.ts';
import { cough } from '../src/sim/caller/cough.ts';
import { dialTwilio } from '../src/sim/twilio/carrier.ts';
import type { StreamOptions } from '../src/sim/twilio/stream.ts';
import { CallerVoice } from '../src/sim/caller/voice.ts';
import { SentenceCutter } from '../src/speech/tts/sentences.ts';
import { acceptedPath, acceptedText, keptCall, keptCallsFolder } from '../test/unit/rehearsal/replay/kept-calls.ts';

interface Scene {
  readonly name: string;
  readonly profile: 'plain' | 'hosted-like';
  readonly stream: StreamOptions;
  readonly steps: (say: (text: string) => Promise<Int16Array>) => Promise<readonly CallerStep[]>;
  /** What the caller's turns must be, so that a call that went wrong is not kept. */
  readonly turns: readonly string[];
}

const BOOK = "I'd like to book an appointment";
const WHEN = 'Tuesday at half past ten';
const ATTEMPTS = 3;

const random = seededRandom(11);
const uneven = (mostMs: number) => () => random() * mostMs;
const quietLine: StreamOptions = {
  lineNoise: 0,
  networkDelayMs: uneven(25),
  toGatewayDelayMs: uneven(25),
  markDelayMs: uneven(40),
};

const scenes: readonly Scene[] = [
  {
    name: 'appointment',
    profile: 'plain',
    stream: quietLine,
    turns: ['', BOOK, WHEN, 'yes please', '2'],
    steps: async (say) => [
      { kind: 'say', text: BOOK, pcm: await say(BOOK) },
      { kind: 'say', text: WHEN, pcm: await say(WHEN) },
      { kind: 'say', text: 'yes please', pcm: await say('yes please') },
      { kind: 'press', digits: '2' },
      { kind: 'wait-for-end' },
    ],
  },
  {
    name: 'interrupted',
    // Its words come late: the interruption is decided by the sound alone.
    profile: 'hosted-like',
    stream: quietLine,
    turns: ['', 'when are you open', BOOK],
    steps: async (say) => [
      { kind: 'say', text: 'when are you open', pcm: await say('when are you open') },
      { kind: 'interrupt', text: BOOK, pcm: await say(BOOK), afterMs: 2_500 },
      { kind: 'hang-up' },
    ],
  },
  {
    name: 'cough',
    profile: 'plain',
    stream: quietLine,
    turns: ['', 'when are you open', 'cancel my appointment'],
    steps: async (say) => [
      { kind: 'say', text: 'when are you open', pcm: await say('when are you open') },
      { kind: 'cough', pcm: cough(300, 3), afterMs: 1_500 },
      { kind: 'cough', pcm: cough(200, 5), afterMs: 4_500 },
      { kind: 'say', text: 'cancel my appointment', pcm: await say('cancel my appointment') },
      { kind: 'hang-up' },
    ],
  },
  {
    name: 'keys',
    profile: 'plain',
    stream: quietLine,
    // The reply to the key that cuts another follows at once, so that the caller waits for the next one.
    turns: ['', '4', '1', '', WHEN, 'yes please', '1', '4821'],
    steps: async (say) => [
      { kind: 'press', digits: '4' },
      { kind: 'press', digits: '1', afterMs: 1_800 },
      { kind: 'say', text: WHEN, pcm: await say(WHEN) },
      { kind: 'say', text: 'yes please', pcm: await say('yes please') },
      { kind: 'press', digits: '1' },
      { kind: 'press', digits: '4821' },
      { kind: 'wait-for-end' },
    ],
  },
  {
    name: 'noisy',
    profile: 'hosted-like',
    stream: { ...quietLine, lineNoise: 0.004, background: noise(4_000, 8_000, 0.004, seededRandom(5)) },
    turns: ['', BOOK, '', WHEN],
    steps: async (say) => [
      { kind: 'say', text: BOOK, pcm: await say(BOOK) },
      // Says nothing for as long as the bot waits.
      { kind: 'cough', pcm: new Int16Array(160), afterMs: 11_500 },
      { kind: 'say', text: WHEN, pcm: await say(WHEN) },
      { kind: 'hang-up' },
    ],
  },
];

const accepts = process.argv.includes('--accept');
const wanted = process.argv.slice(2).filter((name) => name !== '--accept');
mkdirSync(keptCallsFolder, { recursive: true });
const createDetector = await loadVoiceActivity();
const parts = { createDetector, createCutter: () => new SentenceCutter(), readAction: parseAction };
for (const { name } of scenes) if (accepts && (wanted.length === 0 || wanted.includes(name))) await accept(name);
for (const profile of accepts ? [] : (['plain', 'hosted-like'] as const)) {
  const mine = scenes.filter((scene) => scene.profile === profile && (wanted.length === 0 || wanted.includes(scene.name)));
  if (mine.length === 0) continue;
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-record-'));
  await recordAll(profile, mine, dataDir);
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit();

/** What a call is decided like now is expected from here on, where nothing had to be made up for it. */
async function accept(name: string): Promise<void> {
  const fixture = await keptCall(name);
  const { decisions, turns, standIns } = await replayCall(fixture, parts);
  const { divergence } = compareCalls(fixture, { decisions, turns, standIns });
  if (standIns.length > 0) process.exitCode = 1;
  if (standIns.length === 0 && divergence !== undefined) writeFileSync(acceptedPath(name), acceptedText({ decisions, turns }));
  const outcome = standIns.length > 0 ? 'has to be held anew' : divergence === undefined ? 'is decided as before' : 'is accepted';
  process.stdout.write(`${name}: ${outcome}\n`);
}

async function recordAll(profile: Scene['profile'], mine: readonly Scene[], dataDir: string): Promise<void> {
  const { config, bots } = requireConfiguration({
    OFFHOOK_DATA_DIR: dataDir,
    OFFHOOK_PORT: '0',
    OFFHOOK_PLATFORM_PORT: '0',
    OFFHOOK_PLATFORM__PROFILE: profile,
    OFFHOOK_CALL__KEEP_FIXTURES: '*',
  });
  const stop = new AbortController();
  await using speech = await speechSource(config, silentLogger, stop.signal);
  await using voice = new CallerVoice();
  await using gateway = await startGateway({
    config,
    bots: bots.filter(({ name }) => name === 'clinic'),
    speech: speech.settings,
    clock: systemClock,
    logger: silentLogger,
    worker: false,
  });
  await gateway.prepared;
  const authToken = readDevSecret(dataDir, 'twilio', 'authToken').reveal();
  const say = (text: string): Promise<Int16Array> => voice.say(text, { language: 'en', rate: 0.95 });
  for (const scene of mine) {
    const steps = await scene.steps(say);
    let problem = '';
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const call = await dialTwilio({ url: gateway.url, authToken, clock: systemClock, bot: 'clinic', stream: scene.stream });
      const [session] = gateway.calls.calls;
      if (session === undefined) throw new Error('the gateway has no call after answering one');
      await new ScriptedCaller(call.stream, 30_000).run(steps);
      await call.hangUp();
      const record = await session.ended;
      const fixture = await readFixture(join(dataDir, 'fixtures', `${record.id}.fixture.gz`), systemClock.wallMs());
      const turns = record.turns.map(({ callerText }) => callerText);
      const { divergence } = compareCalls(fixture, await replayCall(fixture, parts));
      problem = '';
      if (JSON.stringify(turns) !== JSON.stringify(scene.turns)) problem = `the turns were ${JSON.stringify(turns)}`;
      else if (divergence !== undefined) problem = `it does not replay: ${JSON.stringify(divergence)}`;
      // Nobody was recorded but the simulated caller: these may be read for ever.
      else {
        const path = await writeFixture(keptCallsFolder, scene.name, { ...fixture, expiresAtMs: null });
        rmSync(acceptedPath(scene.name), { force: true });
        const kb = Math.round(statSync(path).size / 1024);
        process.stdout.write(`${scene.name}: ${fixture.decisions.length} decisions, ${kb} KB\n`);
        break;
      }
      process.stdout.write(`${scene.name}: ${problem}\n`);
    }
    if (problem !== '') process.exitCode = 1;
  }
}
