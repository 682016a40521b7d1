import type { ProblemCode, SystemProblem, SystemState } from './system-views.ts';

const GB = 1024 ** 3;
/** About a busy day of recordings, at 16 kB a second for each call. */
const LOW_DISK_BYTES = 2 * GB;
/** Below this, calls may not be saved. */
const FULL_DISK_BYTES = 0.2 * GB;
/** A store that keeps up has fewer ended calls waiting. */
const LONG_OUTBOX = 200;
/** A running worker takes a job within seconds. */
const LONG_WAIT_MS = 10 * 60_000;
/** How long a refusal is reported. */
const REFUSED_LATELY_MS = 10 * 60_000;

type Facts = SystemProblem['facts'];

/** Severity, description and advice by code; `{name}` stands for a fact. */
const TEXTS: Readonly<Record<ProblemCode, readonly [SystemProblem['severity'], string, string]>> = {
  'store-down': [
    'error',
    'The store does not answer.',
    'Calls go on, and are kept on disk meanwhile. Start the database, or look for its error in the log.',
  ],
  'processes-missing': [
    'error',
    '{up} of {count} media processes take calls.',
    'Processes that ended are started again. If this lasts, look for "media process" in the log.',
  ],
  'speech-down': [
    'error',
    'No bot can be served: the speech services are down.',
    'Check their addresses, keys and balance: `offhook doctor`.',
  ],
  'disk-full': ['error', 'The disk of the data folder is full: {free} GB are free.', 'Make room now: new calls may not be kept.'],
  late: [
    'error',
    'The event loop of {process} is {lagMs} ms late, so new calls are refused.',
    'Set `processes`, lower `call.maximum`, or move other work off this machine.',
  ],
  'bot-down': [
    'error',
    'The server of the bot {bot} does not answer. Its new calls go by `whenDown` of its file, where that is set.',
    'Start that server, or look at its log; `offhook doctor` asks it. Calls go to it again by themselves once it answers.',
  ],
  draining: [
    'warning',
    'The gateway is draining: {live} calls go on, and no new ones are taken.',
    'Restart it when its calls have ended, or take calls again: `offhook drain --undo`.',
  ],
  'speech-partly': [
    'warning',
    'Some bots cannot be served: a speech service that they use is down.',
    'Check addresses and keys with `offhook doctor`, or give these bots a second vendor.',
  ],
  'breaker-open': [
    'warning',
    'The speech platform’s {service} failed again and again, and rests for some seconds.',
    'It is asked again by itself. If this lasts, run `offhook doctor`.',
  ],
  'vendor-failing': [
    'warning',
    '{vendor} failed at {service} in a call within the last minute.',
    'Calls begin with the next vendor of their bot. Check the account and the status page of {vendor}.',
  ],
  'speech-waiting': [
    'warning',
    '{waiting} requests wait for {service} of {vendor}: all {most} slots are in use.',
    'Buy more concurrency there and raise `speech.slotsPerKey`, or lower `call.maximum`.',
  ],
  'calls-full': [
    'warning',
    'The limit of {most} calls is reached: further ones are refused.',
    'Raise `call.maximum` if the machine allows it, or start another gateway.',
  ],
  'disk-low': [
    'warning',
    'The disk of the data folder has {free} GB left.',
    'Make room, or keep recordings for fewer days (`retention.audioDays`).',
  ],
  'outbox-long': [
    'warning',
    '{count} ended calls wait on disk for the store.',
    'They are delivered by themselves. If the number grows, look at the store and at the log.',
  ],
  'outbox-rejected': [
    'warning',
    '{count} records were refused by the store and set aside.',
    'Look at `outbox/rejected` in the data folder: each has its reason beside it.',
  ],
  'jobs-failed': [
    'warning',
    'Jobs of {queue} that were given up: {count}.',
    'Correct what their reasons name, then retry them here or with `offhook jobs retry {queue} --all`.',
  ],
  'jobs-waiting': [
    'warning',
    'The oldest job of {queue} has waited for {minutes} minutes.',
    'Start a worker (`offhook worker`), or raise `jobs.concurrency`.',
  ],
  'webhooks-refused': [
    'warning',
    '{carrier} was refused within the last minutes: {reason}.',
    'Compare its secret and `OFFHOOK_PUBLIC_URL` with the carrier’s console; `offhook doctor` checks both.',
  ],
  'marks-missing': [
    'warning',
    '{carrier} returned too few playout marks in its latest call: what callers heard is estimated.',
    'Whatever stands between {carrier} and the gateway has to return each mark under its name. Calls go on as with a carrier without marks.',
  ],
  'address-missing': [
    'warning',
    'Carriers cannot reach this gateway: `OFFHOOK_PUBLIC_URL` is not set.',
    'Set it to the https address at which {carriers} can reach this gateway.',
  ],
  'address-plain': [
    'warning',
    'The public address {address} is not https, which {carriers} want.',
    'Put a proxy in front that ends TLS, and set `OFFHOOK_PUBLIC_URL` to its address.',
  ],
  'proxy-untrusted': [
    'warning',
    'Requests come through a proxy at {proxy} that is not trusted: all its visitors count as one address.',
    'Set `http.trustedProxies` to {proxy} if that is your proxy.',
  ],
  'bots-refused': [
    'warning',
    'The last reload changed no bot: {problem}',
    'Correct the file, then run `offhook reload`. `offhook config check` names all problems.',
  ],
  'campaign-paused': [
    'warning',
    'The campaign “{campaign}” was paused by itself: {reason}',
    'Look into its calls, then resume it.',
  ],
};

/**
 * Problems, worst first.
 * @param publicUrl the public address, and titles of configured carriers outside the premises
 */
export function problemsOf(state: SystemState, publicUrl: PublicAddress): SystemProblem[] {
  const { calls, processes, machine, outbox, speech, queues, carriers, bots } = state;
  const nowMs = Date.parse(state.checkedAt);
  const found: SystemProblem[] = [];
  const note = (isSo: boolean, code: ProblemCode, facts: Facts = {}): void => {
    if (isSo) found.push(problem(code, facts));
  };
  const media = processes.filter(({ name }) => name.startsWith('media '));
  const up = media.filter(({ state: each }) => each === 'up').length;
  const free = (machine.diskFreeBytes / GB).toFixed(1);
  note(state.store.state === 'down', 'store-down');
  note(media.length > up && !calls.draining, 'processes-missing', { up, count: media.length });
  note(speech.state === 'down', 'speech-down');
  note(machine.diskFreeBytes < FULL_DISK_BYTES, 'disk-full', { free });
  for (const { name, lagMs, shedding } of processes) note(shedding, 'late', { process: name, lagMs: Math.round(lagMs) });
  for (const bot of bots.down) note(true, 'bot-down', { bot });
  note(calls.draining, 'draining', { live: calls.live });
  note(speech.state === 'partly', 'speech-partly');
  for (const service of speech.openBreakers) note(true, 'breaker-open', { service });
  for (const each of speech.failing) note(true, 'vendor-failing', each);
  for (const { vendor, service, waiting, most, live, batch } of speech.slots)
    note(waiting > 0 && live + batch >= most, 'speech-waiting', { vendor, service, waiting, most });
  note(calls.live >= calls.most, 'calls-full', { most: calls.most });
  note(machine.diskFreeBytes >= FULL_DISK_BYTES && machine.diskFreeBytes < LOW_DISK_BYTES, 'disk-low', { free });
  note(outbox.calls + outbox.recordings > LONG_OUTBOX, 'outbox-long', { count: outbox.calls + outbox.recordings });
  note(outbox.rejected > 0, 'outbox-rejected', { count: outbox.rejected });
  for (const { name: queue, failed } of queues.queues) note(failed > 0, 'jobs-failed', { queue, count: failed });
  for (const { name: queue, oldestAt } of queues.queues) {
    const waitedMs = oldestAt === null ? 0 : nowMs - Date.parse(oldestAt);
    note(waitedMs > LONG_WAIT_MS, 'jobs-waiting', { queue, minutes: Math.floor(waitedMs / 60_000) });
  }
  for (const { title: carrier, lastRefusalAt, lastRefusal } of carriers)
    if (lastRefusalAt !== null && nowMs - Date.parse(lastRefusalAt) < REFUSED_LATELY_MS)
      note(true, 'webhooks-refused', { carrier, reason: lastRefusal ?? '' });
  for (const { title: carrier, marksMissing } of carriers) note(marksMissing, 'marks-missing', { carrier });
  if (publicUrl.carriers.length > 0) {
    const titles = publicUrl.carriers.join(', ');
    note(publicUrl.address === undefined, 'address-missing', { carriers: titles });
    const plain = publicUrl.address?.startsWith('https:') === false;
    note(plain, 'address-plain', { carriers: titles, address: publicUrl.address ?? '' });
  }
  for (const proxy of state.untrustedProxies) note(true, 'proxy-untrusted', { proxy });
  for (const each of bots.problems.slice(0, 5)) note(true, 'bots-refused', { problem: each });
  return found;
}

export interface PublicAddress {
  readonly address: string | undefined;
  /** Titles of configured carriers that are not on the premises. */
  readonly carriers: readonly string[];
}

/** A campaign paused by the breaker or the gateway. */
export function campaignPaused({
  name,
  reason,
}: {
  readonly name: string;
  readonly reason: string | undefined;
}): SystemProblem[] {
  return [problem('campaign-paused', { campaign: name, reason: reason ?? '' })];
}

function problem(code: ProblemCode, facts: Facts): SystemProblem {
  const [severity, what, remedy] = TEXTS[code];
  const filled = (text: string): string => text.replaceAll(/\{(\w+)\}/gu, (_whole, name: string) => String(facts[name] ?? ''));
  return { code, severity, what: filled(what), remedy: filled(remedy), facts };
}
