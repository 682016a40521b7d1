import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AUDIO, bandwidthDialect, speechOf } from '../../../src/carriers/bandwidth/carrier.ts';
import { LineTranscoder } from '../../../src/carriers/line-transcoder.ts';
import { carriers } from '../../../src/carriers/registry.ts';
import { openCarriers, proofOf, speechFormats, takesCarrierCalls } from '../../../src/carriers/open-carriers.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const MULAW = { encoding: 'mulaw', rateHz: 8_000 } as const;
const linear = (rateHz: number) => ({ encoding: 'pcm16', rateHz });

function opened(env: Record<string, string>) {
  const lines: string[] = [];
  const logger = createLogger({ level: 'warn', stream: { write: (line) => void lines.push(line) } });
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-carriers-'));
  const config = loadConfig({ env, files: [] });
  const parts = { clock: new ManualClock(), gatewayUrl: () => 'https://voice.example.com' };
  const open = openCarriers({ ...parts, configs: config.carriers, dataDir, logger });
  return { open, lines, configs: config.carriers, proof: (name: string) => proofOf(name, { ...config, settings: { dataDir } }) };
}

describe('the address of a REST interface', () => {
  const names = ['TELNYX', 'PLIVO', 'VOBIZ', 'EXOTEL', 'BANDWIDTH', 'JAMBONZ', 'SMARTFLO', 'ACEFONE', 'TWILIO', 'VONAGE'];
  const urls = [...names.map((name) => `OFFHOOK_${name}_API_URL`), 'OFFHOOK_BANDWIDTH_TOKEN_URL'];

  it.each(urls)('is refused in %s without its https://', (variable) => {
    const problems = (value: string) => loadConfig({ env: { [variable]: value }, files: [] }).problems;
    const told = { where: variable, value: '"api.carrier.example"', message: 'allowed is an http or https address' };
    expect(problems('api.carrier.example')).toEqual([expect.objectContaining(told)]);
    expect(problems('http://127.0.0.1:8080')).toEqual([]);
  });
});

describe('openCarriers', () => {
  it('believes the configured secret from anywhere', () => {
    const { open, lines, configs, proof } = opened({ OFFHOOK_TWILIO_AUTH_TOKEN: 'a, b' });
    expect(open.get('twilio')).toMatchObject({ loopbackOnly: false, control: undefined });
    expect(proof('twilio').reveal()).toBe('a');
    expect(takesCarrierCalls(configs)).toBe(true);
    expect(lines).toEqual([]);
  });

  it('makes a development secret for this machine alone, and says so without telling it', () => {
    const { open, lines, configs, proof } = opened({});
    expect([...open.keys()]).toEqual(carriers.map(({ name }) => name));
    for (const { carrier, loopbackOnly } of open.values()) expect(loopbackOnly).toBe(carrier.proof !== undefined);
    expect(takesCarrierCalls(configs)).toBe(false);
    expect(lines.join()).toContain('OFFHOOK_TWILIO_AUTH_TOKEN');
    expect(lines.join()).not.toContain(proof('twilio').reveal());
  });

  it('lets a carrier that is not configured in from this machine alone, whatever another has', () => {
    const { open } = opened({ OFFHOOK_TWILIO_AUTH_TOKEN: 'a' });
    for (const [name, { carrier, loopbackOnly }] of open)
      expect(loopbackOnly).toBe(name !== 'twilio' && carrier.proof !== undefined);
  });

  it('acts on calls once the account is known', () => {
    const account = { OFFHOOK_TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}` };
    expect(opened({ ...account, OFFHOOK_TWILIO_AUTH_TOKEN: 'a' }).open.get('twilio')?.control).toBeDefined();
    // A development secret is none that the carrier's REST interface takes.
    expect(opened(account).open.get('twilio')?.control).toBeUndefined();
  });
});

describe('what speech is prepared as', () => {
  it('has the rate that a setting gives the legs of a carrier, for sentences and for calls that ring', () => {
    const env = {
      OFFHOOK_TWILIO_AUTH_TOKEN: 'a',
      OFFHOOK_JAMBONZ_WEBHOOK_SECRET: 'b',
      OFFHOOK_JAMBONZ__SAMPLE_RATE_HZ: '16000',
    };
    const { open, configs } = opened(env);
    const wide = { encoding: 'pcm16', rateHz: 16_000 };
    expect(open.get('jambonz')?.speechFormat).toEqual(wide);
    expect(speechFormats(configs)).toEqual(expect.arrayContaining([{ encoding: 'mulaw', rateHz: 8_000 }, wide]));
    expect(opened({ OFFHOOK_JAMBONZ_WEBHOOK_SECRET: 'b' }).open.get('jambonz')?.speechFormat.rateHz).toBe(8_000);
  });

  it.each([
    ['telnyx', 'CODEC', 'PCMU', MULAW],
    ['telnyx', 'CODEC', 'PCMA', { encoding: 'alaw', rateHz: 8_000 }],
    ['telnyx', 'CODEC', 'L16', linear(16_000)],
    ['plivo', 'AUDIO', 'mulaw-8k', MULAW],
    ['plivo', 'AUDIO', 'l16-8k', linear(8_000)],
    ['vobiz', 'AUDIO', 'l16-16k', linear(16_000)],
    ['bandwidth', 'AUDIO', 'mulaw-8k', MULAW],
    ['bandwidth', 'AUDIO', 'pcm-8k', linear(8_000)],
    ['bandwidth', 'AUDIO', 'pcm-24k', linear(8_000)],
    ['signalwire', 'CODEC', 'PCMU@8000h', MULAW],
    ['signalwire', 'CODEC', 'L16@24000h', linear(16_000)],
  ])('is what a leg of %s is spoken to in where its %s is %s', (name, setting, value, format) => {
    const { open } = opened({ [`OFFHOOK_${name.toUpperCase()}__${setting}`]: value });
    expect(open.get(name)?.speechFormat).toEqual(format);
  });

  it('is what the line of a Bandwidth call asks for, whatever is sent to it', () => {
    for (const audio of AUDIO) {
      const codec = bandwidthDialect(audio).start.outbound?.(MULAW) ?? MULAW;
      expect(new LineTranscoder(MULAW, codec).speechFormat).toEqual(speechOf(audio));
    }
  });
});
