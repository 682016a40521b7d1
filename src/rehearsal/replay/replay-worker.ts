import { parentPort, workerData } from 'node:worker_threads';
import { errorText, OffhookError } from '../../kernel/errors.ts';
import { yieldToCalls } from '../../kernel/process-tuning.ts';
import { REPLAY_SETTINGS, type ReplayOutcome, type ReplayTask } from './call-fixtures.ts';
import { compareCalls } from './compare.ts';
import type { CallFixture } from './fixture.ts';
import { decodeFixture } from './fixture-file.ts';
import { replayCall, replayParts, settingChange } from './replay-call.ts';

yieldToCalls();
// JSON drops undefined fields, as the API's answer does.
parentPort?.postMessage(JSON.parse(JSON.stringify(await outcome())), []);

async function outcome(): Promise<ReplayOutcome> {
  const task = workerData as ReplayTask;
  try {
    const fixture = await decodeFixture(task.file, task.nowWallMs);
    if (task.type === 'describe') return { type: 'facts', facts: factsOf(fixture) };
    const change = settingChange(task.settings);
    const replayed = await replayCall(fixture, await replayParts(), { bot: change });
    return { type: 'report', report: compareCalls(fixture, replayed) };
  } catch (error) {
    const code = error instanceof OffhookError ? error.code : error instanceof TypeError ? 'OFFHOOK_REPLAY_SETTINGS' : '';
    return { type: 'refused', code, message: errorText(error) };
  }
}

function factsOf({
  expiresAtMs,
  digitsMasked,
  truncatedAtMs,
  bot,
}: CallFixture): Extract<ReplayOutcome, { type: 'facts' }>['facts'] {
  const settings = REPLAY_SETTINGS.flatMap((name) => {
    const value = name.split('.').reduce<unknown>((inside, part) => Object(inside)[part] as unknown, bot);
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [[name, value] as const] : [];
  });
  return {
    expiresAtMs: expiresAtMs ?? undefined,
    digitsMasked,
    truncatedAtMs: truncatedAtMs ?? undefined,
    settings: Object.fromEntries(settings),
  };
}
