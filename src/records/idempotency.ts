/** What was answered to a request. */
export interface KeptAnswer {
  readonly status: number;
  readonly location: string | undefined;
  /** JSON with nothing personal in it. */
  readonly answer: unknown;
}

/** What became of a request under an idempotency key. */
export type KeyClaim =
  /** The key is free: serve the request, then `keep` or `release`. */
  | { readonly kind: 'ours' }
  /** The same request was answered. */
  | { readonly kind: 'answered'; readonly kept: KeptAnswer }
  /** The same request is being served. */
  | { readonly kind: 'busy' }
  /** Another request has this key. */
  | { readonly kind: 'taken' };

export interface IdempotencyRepository {
  /**
   * @param request.callId the call it is about: erasing that forgets the key
   * @param request.fingerprint the same for the same request
   * @param request.forgetBeforeMs keys that are older count no more
   * @param request.abandonedBeforeMs an unanswered request from before that has been abandoned
   */
  claim(
    tenantId: string,
    key: string,
    request: {
      readonly callId?: string | undefined;
      readonly fingerprint: string;
      readonly atMs: number;
      readonly forgetBeforeMs: number;
      readonly abandonedBeforeMs: number;
    },
  ): Promise<KeyClaim>;
  keep(tenantId: string, key: string, kept: KeptAnswer): Promise<void>;
  /** The request was not served: the same may come again. */
  release(tenantId: string, key: string): Promise<void>;
  /** Deletes for all tenants. */
  forget(beforeMs: number): Promise<void>;
}
