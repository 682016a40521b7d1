import { openRecords, type Records } from '../../hosts/records.ts';
import { systemClock } from '../../kernel/clock.ts';
import { silentLogger } from '../../observability/logger.ts';
import { maskNumber, maskNumbersIn } from '../../records/privacy/mask-number.ts';
import { readConfiguration } from '../setup/configuration.ts';
import { UsageError } from '../shell/output.ts';

interface AskedCalls {
  readonly bot?: string | undefined;
  readonly endReason?: string | undefined;
  readonly limit: number;
}

/** The store of calls: opened when it is first asked, as that takes seconds, and open until it is disposed of. */
export class CallStore implements AsyncDisposable {
  #records: Promise<Records> | undefined;

  open(): Promise<Records> {
    const { config } = readConfiguration();
    this.#records ??= openRecords({ config, clock: systemClock, logger: silentLogger, lasting: false });
    // A store that cannot be opened now may be later.
    this.#records.catch(() => (this.#records = undefined));
    return this.#records;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#records)?.close();
  }
}

/** The latest calls, newest first. */
export async function recentCalls(store: CallStore, tenant: string, { bot: botName, endReason, limit }: AskedCalls) {
  const { calls } = (await store.open()).store;
  const page = await calls.search(tenant, { limit, botName, endReason });
  return page.calls.map(({ id, botName: bot, direction, from, to, startedAtMs, endReason: ended, durationMs }) => {
    const numbers = { from: maskNumber(from), to: maskNumber(to) };
    return { id, bot, direction, ...numbers, startedAt: isoTime(startedAtMs), ended, durationMs };
  });
}

/** One call, turn by turn. @throws UsageError for an unknown id */
export async function callDetails(store: CallStore, tenant: string, id: string) {
  const { calls } = (await store.open()).store;
  const call = await calls.get(tenant, id);
  if (call === undefined) throw new UsageError(`there is no call ${id}`);
  const { from, to, variables = {}, notes = [], turns, transfers = [] } = call;
  const shown = (text: string): string => maskNumbersIn(text, [from, to]);
  return {
    id,
    bot: call.botName,
    botVersion: call.botVersion,
    carrier: call.carrier,
    direction: call.direction,
    startedAt: isoTime(call.startedAtMs),
    ended: call.endReason,
    durationMs: call.summary['durationMs'],
    variables: Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, shown(value)])),
    notes: notes.map(shown),
    transfers: transfers.map(({ to: agent, kind, outcome }) => ({ to: maskNumber(agent), kind, outcome })),
    turns: turns.map(({ index, inputKind, callerText, botText, botHeardText, interrupted, latencies, steps }) => {
      const heard = botHeardText === botText ? {} : { heard: shown(botHeardText) };
      return {
        index,
        inputKind,
        caller: shown(callerText),
        bot: shown(botText),
        ...heard,
        interrupted,
        waitMs: latencies.total,
        steps,
      };
    }),
  };
}

function isoTime(wallMs: number): string {
  return new Date(wallMs).toISOString();
}
