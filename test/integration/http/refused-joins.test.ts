import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { BandwidthControl } from '../../../src/carriers/bandwidth/control.ts';
import { JambonzControl } from '../../../src/carriers/jambonz/control.ts';
import { plivo } from '../../../src/carriers/plivo/carrier.ts';
import type { CallControl } from '../../../src/carriers/port.ts';
import { TwilioControl } from '../../../src/carriers/twilio/control.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const secret = new Secret('a-secret-of-the-account');
const gatewayUrl = (): string => 'https://gateway.example.org';
const CALLER = 'caller-1';
const AGENT = 'agent-2';

/** Carriers that move two calls one after the other, as a control at a given address. */
const controls: Readonly<Record<string, (apiUrl: string, clock: ManualClock) => CallControl | undefined>> = {
  twilio: (apiUrl, clock) => new TwilioControl({ apiUrl, accountSid: 'AC1', authToken: secret, voiceUrl: () => '' }, clock),
  plivo: (apiUrl, clock) =>
    plivo.control(
      { settings: { authId: 'MAXXXXXXXXXXXXXXXXXX', apiUrl }, secrets: { authToken: [secret] } },
      { clock, gatewayUrl },
    ),
  bandwidth(apiUrl, clock) {
    const ids = { accountId: '1', clientId: 'c', applicationId: 'a', carrier: 'bandwidth', user: 'offhook' };
    const settings = { ...ids, apiUrl, tokenUrl: `${apiUrl}/token`, clientSecret: secret, password: secret };
    return new BandwidthControl({ ...settings, gatewayUrl }, clock);
  },
  jambonz(apiUrl, clock) {
    const speech = { vendor: 'google', language: 'en-US', voice: 'en-US-Standard-C' };
    return new JambonzControl({ apiUrl, accountSid: 'a', apiKey: secret, speech, gatewayUrl }, clock);
  },
};

it.each(Object.entries(controls))('hangs up the agent at %s when the caller cannot be moved to them', async (_, controlAt) => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url = '' } = request;
      if (url.includes(AGENT)) asked.push(`${method} ${Buffer.concat(chunks).toString()}`);
      const answer = url.endsWith('/token') ? { access_token: 'token', expires_in: 3_600 } : {};
      response.writeHead(url.includes(CALLER) ? 404 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const control = controlAt(`http://127.0.0.1:${port}`, new ManualClock());
    await expect(control?.join?.(CALLER, AGENT, new AbortController().signal)).rejects.toMatchObject({ facts: { status: 404 } });
    expect(asked.length).toBeGreaterThan(1);
    expect(asked.at(-1)).toMatch(/DELETE|completed/u);
  } finally {
    server.close();
  }
});
