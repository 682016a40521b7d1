import type { Socket } from 'node:net';
import type { StreamGrant } from '../carriers/stream-token.ts';

/** The upgrade of a media socket that was let in and is not answered yet. */
export interface MediaUpgrade {
  readonly socket: Socket;
  readonly headers: Readonly<Record<string, string>>;
  /** What the client sent behind its request; nothing, where it keeps to RFC 6455. */
  readonly early: Uint8Array;
  readonly address: string;
}

/** Where media is awaited that was promised. */
export interface MediaExpectations {
  expect(callId: string, attachmentId: string, withinMs: number): void;
  abandon(attachmentId: string, reason: string): void;
}

/** The media of calls, where other processes have it. */
export interface MediaElsewhere extends MediaExpectations {
  /**
   * Hands the socket over to the process that has the call, which answers the upgrade.
   * @returns resolves when the media has started or was given up
   * @throws OffhookError when there is no such process any more; the socket is closed then
   */
  take(grant: StreamGrant, upgrade: MediaUpgrade): Promise<void>;
}
