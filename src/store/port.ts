import type { CallRecord, NewCallRecord } from './record.ts';

export type { CallRecord, NewCallRecord } from './record.ts';

/** What a list of calls shows of one. */
export interface CallSummary {
  readonly id: string;
  readonly botName: string;
  readonly carrier: string;
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound';
  readonly language: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number | undefined;
  readonly endReason: string | undefined;
  readonly turnCount: number;
}

export interface CallPage {
  /** Newest first. */
  readonly calls: readonly CallSummary[];
  /** Give it as `before` to read on; undefined at the end. */
  readonly next: string | undefined;
}

export interface CallRepository {
  /**
   * Writes the whole record, in place of an older revision of it. The same record twice is the same as once; an older
   * revision than the stored one changes nothing.
   * @throws StoreRecordError when the record does not have the shape of one
   */
  upsert(record: NewCallRecord): Promise<void>;
  get(tenantId: string, callId: string): Promise<CallRecord | undefined>;
  /** @param options.limit 1 to 200 */
  listRecent(tenantId: string, options: { readonly limit: number; readonly before?: string | undefined }): Promise<CallPage>;
}

export interface Analysis {
  readonly tenantId: string;
  readonly callId: string;
  /** The form of the document: one document a call and version. */
  readonly version: number;
  readonly createdAtMs: number;
  /** JSON; its reader parses it. */
  readonly document: unknown;
}

export interface AnalysisRepository {
  /** Replaces the document of the same call and version. @throws StoreRecordError when the call is not in the store */
  put(analysis: Analysis): Promise<void>;
  get(tenantId: string, callId: string, version: number): Promise<Analysis | undefined>;
  /** All versions, newest version first. */
  list(tenantId: string, callId: string): Promise<readonly Analysis[]>;
}

/**
 * Where calls and what came of them are kept. Every method can throw StoreUnavailableError (retryable): nothing was
 * written then, or everything was.
 */
export interface Store extends AsyncDisposable {
  readonly calls: CallRepository;
  readonly analyses: AnalysisRepository;
  close(): Promise<void>;
}
