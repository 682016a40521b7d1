import { isIP } from 'node:net';
import type { AlertChannel, MailChannel } from '../config/alerts.ts';
import type { Clock } from '../kernel/clock.ts';
import { errorText } from '../kernel/errors.ts';
import { isPublicAddress, resolveName } from '../kernel/public-address.ts';
import { postWebhook } from '../records/webhooks/deliver-webhook.ts';
import { type AlertNotice, noticeText, noticeTitle } from './notice.ts';

/** How long a channel may take. */
const SEND_WITHIN_MS = 15_000;

/** Sends one notice. Never rejects. @returns why it could not be sent; undefined for a success */
export async function sendNotice(channel: AlertChannel, notice: AlertNotice, clock: Clock): Promise<string | undefined> {
  try {
    return await send(channel, notice, clock);
  } catch (error) {
    return errorText(error).slice(0, 300);
  }
}

async function send(channel: AlertChannel, notice: AlertNotice, clock: Clock): Promise<string | undefined> {
  const within = { clock, timeoutMs: SEND_WITHIN_MS, signal: new AbortController().signal };
  switch (channel.kind) {
    case 'webhook': {
      const { atMs, id, ...data } = notice;
      const body = JSON.stringify({ type: `alert.${notice.state}`, timestamp: new Date(atMs).toISOString(), data });
      return (await postWebhook(channel, { id, body, headers: {} }, within)).problem;
    }
    case 'slack': {
      const { allowPrivate, url } = channel;
      const body = JSON.stringify({ text: noticeText(notice) });
      return (await postWebhook({ url: url.reveal(), allowPrivate }, { id: notice.id, body, headers: {} }, within)).problem;
    }
    case 'mail':
      await sendMail(channel, notice);
      return undefined;
  }
}

/** @throws what the server says, or why it is not reached */
async function sendMail(channel: MailChannel, notice: AlertNotice): Promise<void> {
  const { host, port, security, user, password, from, to } = channel;
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    host: await addressOf(channel),
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(user === undefined || password === undefined ? {} : { auth: { user, pass: password.reveal() } }),
    // The name that the certificate is checked against, as `host` is its address.
    tls: { servername: isIP(host) === 0 ? host : '' },
    connectionTimeout: SEND_WITHIN_MS,
    greetingTimeout: SEND_WITHIN_MS,
    socketTimeout: SEND_WITHIN_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const messageId = `<${notice.id}@offhook>`;
    await transport.sendMail({ from, to, messageId, subject: noticeTitle(notice), text: noticeText(notice) });
  } finally {
    transport.close();
  }
}

/** The mail server's address that was checked, so that a name which changes meanwhile gains nothing. @throws Error for a private one */
async function addressOf({ host, allowPrivate }: MailChannel): Promise<string> {
  if (allowPrivate) return host;
  const found = isIP(host) === 0 ? await resolveName(host) : [{ address: host }];
  const [first] = found;
  if (first === undefined || !found.every(({ address }) => isPublicAddress(address)))
    throw new Error('the address of the mail server is not public; allowPrivate allows it');
  return first.address;
}
