import type { CallRecord } from '../../call/log/call-record.ts';
import type { Bot } from '../../config/bots.ts';
import type { ChatGateway } from '../chat/open-chat.ts';
import type { CallPrice } from './evidence.ts';
import type { MockedWorld } from './mocked-world.ts';
import type { Caller } from './caller.ts';
import type { ScenarioDocument, SuiteDocument } from './suite-schema.ts';

/** A call that is rehearsed: who calls whom, and the servers around it. */
export interface Rehearsal {
  readonly gateway: ChatGateway;
  readonly bot: Bot;
  readonly suite: Pick<SuiteDocument, 'at' | 'mocks'>;
  readonly scenario: Pick<ScenarioDocument, 'at' | 'call' | 'caller' | 'mocks'>;
  readonly seed: number;
  readonly caller: Caller;
  readonly world: MockedWorld;
  /** Longest real time of one answer of the bot. */
  readonly deadlineMs: number;
  /** What a campaign counts an ended call as. */
  readonly dispositionOf: (record: CallRecord) => string | undefined;
  /** What an ended call cost; undefined where a price is missing. */
  readonly costOf?: ((record: CallRecord) => CallPrice | undefined) | undefined;
}
