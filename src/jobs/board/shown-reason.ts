import { PERSONAL_KINDS } from '../analysis/profile.ts';
import { Redactor } from '../analysis/redaction/redact.ts';

const redactor = new Redactor({ keywords: [], personal: PERSONAL_KINDS });

/** BullMQ's own reason; it quotes nothing. */
const STALLED = 'job stalled more than allowable limit';
const CODED = /^(OFFHOOK_[A-Z_]+): ([^]*)$/u;
/** Errors that repeat behind a colon what somebody else's server said, which may be a caller's words. */
const QUOTES_OTHERS = /^OFFHOOK_(?:ANALYSIS_MODEL|SPEECH_[A-Z]+)$/u;
const SYSTEM_CODE = /\bE[A-Z]{4,}\b/u;
const WITHOUT_CODE = 'an error without a code, whose text stands in the log';

/**
 * Why a job failed, as a page may show it: the code, and as much of the message as is ours. Numbers, addresses and the like
 * are hidden as analyses hide them, and so is whatever stands in quotes or is as long as a token.
 * @param reason as the queue keeps it: `CODE: message` of an OffhookError, any other error's text as it stands
 */
export function shownReason(reason: string): string {
  if (reason === STALLED) return reason;
  const [, code, message] = CODED.exec(reason) ?? [];
  if (code === undefined || message === undefined) {
    const system = SYSTEM_CODE.exec(reason)?.[0];
    return system === undefined ? WITHOUT_CODE : `${system}: ${WITHOUT_CODE}`;
  }
  const ours = QUOTES_OTHERS.test(code) ? (message.split(': ', 1)[0] ?? '') : message;
  const unquoted = ours.replaceAll(/"[^"]*"|`[^`]*`|“[^”]*”/gu, '…');
  return `${code}: ${redactor.text(unquoted).replaceAll(/\S{24,}/gu, '…')}`;
}
