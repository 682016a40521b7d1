import { inspect } from 'node:util';
import { setTimeout as realSleep } from 'node:timers/promises';
import { describe, expect, it, test } from 'vitest';
import { WebSocket } from 'ws';
import { dialTokenMs } from '../../src/carriers/dialling.ts';
import { CarrierControlError, DialUnknownError } from '../../src/carriers/errors.ts';
import { JambonzControl } from '../../src/carriers/jambonz/control.ts';
import { AsteriskControl } from '../../src/carriers/asterisk/control.ts';
import { BandwidthControl } from '../../src/carriers/bandwidth/control.ts';
import type { CallControl, DialOrder } from '../../src/carriers/port.ts';
import { ExotelControl } from '../../src/carriers/exotel/control.ts';
import { carriers as everyCarrier } from '../../src/carriers/registry.ts';
import { plivo, vobiz } from '../../src/carriers/plivo/carrier.ts';
import { signalwire } from '../../src/carriers/signalwire/carrier.ts';
import { TelnyxAccount } from '../../src/carriers/telnyx/account.ts';
import { TelnyxControl } from '../../src/carriers/telnyx/control.ts';
import { streamFields } from '../../src/carriers/telnyx/dialect.ts';
import { TwilioControl } from '../../src/carriers/twilio/control.ts';
import { VonageControl } from '../../src/carriers/vonage/control.ts';
import { Secret } from '../../src/config/secrets.ts';
import { SimulatedAsterisk } from '../../src/sim/asterisk/api.ts';
import type {
  CalleeOutcome,
  CarrierSide,
  DialledPhone,
  OnDial,
  SimulatedCallee,
  SimulatedOrder,
} from '../../src/sim/caller/callee.ts';
import type { DialledCalls } from '../../src/sim/dialling-carrier.ts';
import { SimulatedJambonzApi } from '../../src/sim/jambonz/api.ts';
import { ACCOUNT_SID } from '../../src/sim/jambonz/carrier.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import { ACCOUNT as BANDWIDTH_ACCOUNT, SimulatedBandwidthApi } from '../../src/sim/bandwidth/account.ts';
import { SimulatedExotelApi } from '../../src/sim/exotel/api.ts';
import { SimulatedPlivoApi } from '../../src/sim/plivo/account.ts';
import { SimulatedTelnyxApi } from '../../src/sim/telnyx/api.ts';
import { SimulatedTwilioApi } from '../../src/sim/twilio/api.ts';
import { SimulatedVonageApi } from '../../src/sim/vonage/api.ts';
import { thorough } from '../support/thorough.ts';
import { authToken, openStream, startGateway } from '../integration/http/gateway.ts';
import { allowedTarget } from '../support/open-dialling.ts';

const RING_MS = 5_000;
const ACCOUNT = `AC${'0'.repeat(32)}`;
const { signal } = new AbortController();

interface Carried extends AsyncDisposable {
  readonly control: (clock: ManualClock, gatewayUrl: () => string) => CallControl;
  /** Every order that came, and every call that was placed. */
  readonly orders: () => readonly SimulatedOrder[];
  readonly phones: () => readonly DialledPhone[];
  readonly secrets: readonly string[];
}
interface SimulatedSide {
  readonly clock: ManualClock;
  readonly onDial: OnDial;
  readonly listLagMs?: number;
}

/** What a simulated account shows of the calls that it was asked for. */
const farEnd = (
  api: AsyncDisposable & { readonly dialled: Pick<DialledCalls<CarrierSide>, 'orders' | 'calls'> },
  secrets: readonly string[],
): Omit<Carried, 'control'> => ({
  orders: () => api.dialled.orders,
  phones: () => api.dialled.calls.map(({ phone }) => phone),
  secrets,
  [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
});

/** Each carrier that dials, with its simulated far end: a further one adds a line here. */
const carriers: Readonly<Record<string, (side: SimulatedSide) => Promise<Carried>>> = {
  async twilio(side) {
    const api = await new SimulatedTwilioApi(ACCOUNT, authToken, side).listen();
    const settings = { apiUrl: api.url, accountSid: ACCOUNT, authToken: new Secret(authToken), voiceUrl: () => '' };
    return {
      ...farEnd(api, [authToken]),
      control: (clock) => new TwilioControl(settings, clock),
    };
  },
  async bandwidth(side) {
    const api = await new SimulatedBandwidthApi(side).listen();
    const { clientSecret, ...ids } = BANDWIDTH_ACCOUNT;
    const settings = { ...ids, apiUrl: api.url, tokenUrl: api.tokenUrl, carrier: 'bandwidth', user: 'offhook' };
    const secrets = { clientSecret: new Secret(clientSecret), password: new Secret(authToken) };
    return {
      ...farEnd(api, [authToken, clientSecret]),
      control: (clock, gatewayUrl) => new BandwidthControl({ ...settings, ...secrets, gatewayUrl }, clock),
    };
  },
  plivo: (side) => plivoFamily('plivo', side),
  vobiz: (side) => plivoFamily('vobiz', side),
  async vonage(side) {
    const applicationId = '78d335fa-323d-0114-9c3d-d6f0d48968cf';
    const api = await new SimulatedVonageApi(applicationId, { ...side, signatureSecret: authToken }).listen();
    const privateKey = new Secret(api.privateKey);
    const media = { eventUrl: () => 'http://127.0.0.1:1/carriers/vonage/status', rateHz: 16_000, proofKey: undefined };
    const settings = { apiUrl: api.url, applicationId, privateKey, ...media };
    return {
      ...farEnd(api, [authToken, api.privateKey]),
      control: (clock) => new VonageControl(settings, clock),
    };
  },
  async exotel(side) {
    const ids = { accountSid: 'acme1', apiKey: 'the-key-of-the-account', apiToken: 'the-api-token-of-the-account' };
    const api = await new SimulatedExotelApi(ids, side).listen();
    const [apiKey, apiToken, password] = [ids.apiKey, ids.apiToken, authToken].map((secret) => new Secret(secret));
    if (apiKey === undefined || apiToken === undefined || password === undefined) throw new TypeError('no account');
    const wire = { sampleRateHz: 8_000, callerIdFormat: 'national', utcOffsetMinutes: 330 } as const;
    const account = { apiUrl: api.url, accountSid: ids.accountSid, apiKey, apiToken, password, ...wire };
    return {
      ...farEnd(api, [authToken, ids.apiKey, ids.apiToken]),
      control: (clock) => new ExotelControl(account, clock),
    };
  },
  async asterisk(side) {
    const target = { way: 'websocket', password: authToken, form: 'json' } as const;
    const ariPassword = 'of-its-rest-interface';
    const api = await new SimulatedAsterisk({ ...side, username: 'offhook', ariPassword, target }).listen();
    const account = { ariUrl: api.url, ariUsername: 'offhook', ariPassword: new Secret(ariPassword) };
    return {
      ...farEnd(api, [authToken, ariPassword]),
      control: (clock) => new AsteriskControl(account, 'websocket', clock),
    };
  },
  async signalwire(side) {
    const project = 'f4d1c1a0-8f0e-4a3b-9c63-1d6c1f7f2a11';
    const api = await new SimulatedTwilioApi(project, 'the-api-token', {
      ...side,
      signalwire: { signingKey: authToken },
    }).listen();
    const settings = { projectId: project, spaceUrl: api.url };
    return {
      ...farEnd(api, [authToken, 'the-api-token']),
      control(clock, gatewayUrl) {
        const secrets = { apiToken: [new Secret('the-api-token')] };
        const control = signalwire.control({ settings, secrets }, { clock, gatewayUrl });
        if (control === undefined) throw new TypeError('no account');
        return control;
      },
    };
  },
  async telnyx(side) {
    const api = await new SimulatedTelnyxApi(side).listen();
    const apiKey = new Secret(api.apiKey);
    const streamFieldsOf = (url: string) => streamFields(url, { codec: 'PCMU', rateHz: 8_000, byteOrder: 'big' }, apiKey);
    const order = { connectionId: api.connectionId, machineDetection: 'greeting_end', streamFields: streamFieldsOf } as const;
    return {
      ...farEnd(api, [api.apiKey]),
      control: (clock) =>
        new TelnyxControl(new TelnyxAccount({ apiUrl: api.url, apiKey }, clock), {
          dialling: order,
          webhookUrl: () => '',
          forkFields: () => ({}),
        }),
    };
  },
  async jambonz(side) {
    const api = await new SimulatedJambonzApi({ ...side, webhookSecret: authToken }).listen();
    const speech = { vendor: 'google', language: 'en-US', voice: 'en-US-Standard-C' };
    const account = { apiUrl: api.url, accountSid: ACCOUNT_SID, apiKey: new Secret(api.apiKey), speech };
    return {
      ...farEnd(api, [authToken, api.apiKey]),
      control: (clock, gatewayUrl) => new JambonzControl({ ...account, gatewayUrl }, clock),
    };
  },
};

async function plivoFamily(flavour: 'plivo' | 'vobiz', side: SimulatedSide): Promise<Carried> {
  const authId = 'MAXXXXXXXXXXXXXXXXXX';
  const api = await new SimulatedPlivoApi(flavour, authId, authToken, side).listen();
  const carrier = flavour === 'plivo' ? plivo : vobiz;
  const config = { settings: { authId, apiUrl: api.url }, secrets: { authToken: [new Secret(authToken)] } };
  return {
    ...farEnd(api, [authToken]),
    control(clock, gatewayUrl) {
      const control = carrier.control(config, { clock, gatewayUrl });
      if (control === undefined) throw new TypeError('no account');
      return control;
    },
  };
}

/**
 * What a carrier cannot do, as its page says: end a call that rings, say who answered or that a greeting is over, report that it took an
 * order or that a phone rings, tell of calls that are over.
 */
type Lacking = 'cancelling' | 'detection' | 'greeting-ends' | 'queued-reports' | 'ringing-reports' | 'history';
const LACKING: Readonly<Record<string, readonly Lacking[]>> = {
  bandwidth: ['queued-reports', 'ringing-reports'],
  exotel: ['cancelling', 'detection', 'queued-reports'],
  plivo: ['greeting-ends', 'queued-reports'],
  vobiz: ['greeting-ends', 'queued-reports'],
  // It knows the calls that there are, at once, and nothing of those that are over.
  asterisk: ['detection', 'ringing-reports', 'history'],
  telnyx: ['ringing-reports'],
};

/** A carrier that could be taken for this one. */
const otherThan = (carrier: string): string => Object.keys(carriers).find((name) => name !== carrier) ?? '';

/** A gateway's routes, a carrier, and people who answer as `callee` says. */
async function bench(carrier: string, callee: SimulatedCallee | OnDial, listLagMs = 0) {
  const start = carriers[carrier];
  if (start === undefined) throw new TypeError(`no carrier ${carrier}`);
  // Twilio is always there. Routes of all carriers would be half of what a test costs.
  const others = everyCarrier.filter(({ name }) => name !== 'twilio' && [carrier, otherThan(carrier)].includes(name));
  const gateway = await startGateway({
    others,
    env: { OFFHOOK_TELNYX_PUBLIC_KEY: SimulatedTelnyxApi.publicKey, OFFHOOK_TELNYX_API_KEY: 'of-no-matter-here' },
  });
  const { clock, intake } = gateway;
  const carried = await start({ clock, onDial: typeof callee === 'function' ? callee : () => callee, listLagMs });
  const control = carried.control(clock, () => gateway.url);
  const { dialling } = control;
  if (dialling === undefined) throw new Error(`${carrier} does not dial`);
  const orderOf = async (callId = 'call_1', more: Partial<DialOrder> = {}): Promise<DialOrder> => {
    const at = { carrier, callId, attachmentId: `att_${callId}` };
    const addresses = await gateway.streams.forDial(at, dialTokenMs(RING_MS));
    const numbers = { from: '+15550100001', to: allowedTarget('+919812345678') };
    return { callId, ...numbers, ringTimeoutMs: RING_MS, maxDurationMs: 600_000, detectMachine: false, ...addresses, ...more };
  };
  return {
    gateway,
    clock,
    intake,
    control,
    dialling,
    carried,
    orderOf,
    /** Time of the carrier and the gateway passes until something is so. */
    async until(isSo: () => boolean): Promise<void> {
      for (let turn = 0; turn < 4_000; turn += 1) {
        if (isSo()) return;
        clock.advance(20);
        await realSleep(1);
      }
      throw new Error(`it never came to that: ${inspect(intake.reported, { depth: 4 })}`);
    },
    async unknown(order: DialOrder, during?: () => void): Promise<DialUnknownError> {
      const asked = dialling.dial(order, signal).then(
        () => undefined,
        (error: unknown) => error,
      );
      during?.();
      const error = await asked;
      if (error instanceof DialUnknownError) return error;
      throw new Error(`${inspect(error)} in place of an unknown dial`);
    },
    ended: () => intake.reported.some(({ progress }) => progress?.state === 'ended'),
    async [Symbol.asyncDispose]() {
      await carried[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

const answers: SimulatedCallee = { outcome: { kind: 'answered', hangUpAfterMs: 1_000 } };

describe.each(Object.keys(carriers))('dialling over %s', (carrier) => {
  const lacks = (what: Lacking): boolean => LACKING[carrier]?.includes(what) === true;
  const states = ['queued', 'ringing', 'answered', 'ended'].filter(
    (state) => !(state === 'queued' && lacks('queued-reports')) && !(state === 'ringing' && lacks('ringing-reports')),
  );

  it('says what it can do', async () => {
    await using at = await bench(carrier, answers);
    expect(at.dialling.capabilities.callsPerSecond).toBeGreaterThan(0);
    expect(at.dialling.capabilities).toMatchObject({ canFind: expect.any(Boolean) as boolean });
  });

  it('places a call, is told of every step, and gets its media, of that call alone', async () => {
    await using at = await bench(carrier, answers);
    const { carrierCallId } = await at.dialling.dial(await at.orderOf(), signal);
    at.gateway.streams.placed(carrier, 'call_1', carrierCallId);
    expect(at.carried.orders()).toMatchObject([
      { from: '+15550100001', to: '+919812345678', carrierCallId, ringTimeoutMs: RING_MS },
    ]);
    await at.until(at.ended);
    const told = at.intake.reported.flatMap(({ callId, progress }) => (progress ? `${callId} ${progress.state}` : []));
    // A document that the carrier fetches when a call was answered says so once more.
    expect([...new Set(told)]).toEqual(states.map((state) => `call_1 ${state}`));
    expect(at.intake.reported.at(-1)?.progress).toMatchObject({ outcome: 'completed' });
    expect(new Set(at.intake.reported.map((report) => report.carrierCallId))).toEqual(new Set([carrierCallId]));
    expect(at.intake.attachments).toMatchObject([{ callId: 'call_1', attachment: { carrier, started: { carrierCallId } } }]);
    expect(at.intake.attachments[0]?.events.filter(({ type }) => type === 'audio').length).toBeGreaterThan(5);
    // Whoever has a live call is told of its end as well.
    expect(at.intake.statuses.at(-1)).toMatch(/ true$/u);
    const over = await at.dialling.progressOf(carrierCallId, signal);
    if (lacks('history')) expect(over?.state).toBe('ended');
    else expect(over).toEqual({ state: 'ended', outcome: 'completed' });
  });

  test.each([
    ['the line is busy', { kind: 'busy' }, 'busy'],
    ['nobody answers', { kind: 'no-answer' }, 'no-answer'],
    ['the phone declines', { kind: 'rejected' }, 'rejected'],
    ['the network fails', { kind: 'failed', sip: 503, code: '32014' }, 'failed'],
    ['the phone is switched off', { kind: 'failed', sip: 480 }, 'no-answer'],
  ] satisfies [string, CalleeOutcome, string][])('ends without media where %s', async (_, outcome, expected) => {
    await using at = await bench(carrier, { outcome });
    const { carrierCallId } = await at.dialling.dial(await at.orderOf(), signal);
    await at.until(at.ended);
    expect(at.intake.reported.at(-1)).toMatchObject({ callId: 'call_1', carrierCallId, progress: { outcome: expected } });
    if (outcome.kind === 'failed') expect(at.intake.reported.at(-1)?.progress).toHaveProperty('cause');
    expect(at.intake.attachments).toEqual([]);
    expect((await at.dialling.progressOf(carrierCallId, signal))?.state).toBe('ended');
  });

  test.each(['swapped', 'twice'] as const)('is told the same by reports that come %s', async (reports) => {
    await using at = await bench(carrier, { ...answers, reports });
    await at.dialling.dial(await at.orderOf(), signal);
    await at.until(() => at.carried.phones().every(({ isOver }) => isOver));
    await Promise.all(at.carried.phones().map(({ over }) => over));
    expect(new Set(at.intake.reported.flatMap(({ progress }) => progress?.state ?? []))).toEqual(new Set(states));
    expect(at.intake.attachments).toHaveLength(1);
  });

  it('can be asked where no report ever comes', async () => {
    await using at = await bench(carrier, { outcome: { kind: 'busy' }, reports: 'never' });
    const { carrierCallId } = await at.dialling.dial(await at.orderOf(), signal);
    expect(['queued', 'ringing']).toContain((await at.dialling.progressOf(carrierCallId, signal))?.state);
    await at.until(() => at.carried.phones().every(({ isOver }) => isOver));
    expect(at.intake.reported).toEqual([]);
    const over = await at.dialling.progressOf(carrierCallId, signal);
    expect(over?.state).toBe('ended');
    if (lacks('history')) return;
    expect(over).toMatchObject({ outcome: 'busy' });
    expect(await at.dialling.progressOf('none', signal)).toBeUndefined();
  });

  it.skipIf(lacks('detection'))('is told who answered, where it asked', async () => {
    const outcome: CalleeOutcome = {
      kind: 'answered',
      hangUpAfterMs: 1_500,
      detected: [
        { as: 'machine', afterMs: 500 },
        { as: 'machine-done', afterMs: 1_000 },
      ],
    };
    await using at = await bench(carrier, { outcome });
    await at.dialling.dial(await at.orderOf('call_1', { detectMachine: true }), signal);
    await at.until(at.ended);
    expect(at.intake.reported.flatMap(({ witness }) => witness ?? [])).toEqual(
      lacks('greeting-ends') ? ['machine'] : ['machine', 'machine-done'],
    );
    await using unasked = await bench(carrier, { outcome });
    await unasked.dialling.dial(await unasked.orderOf(), signal);
    await unasked.until(unasked.ended);
    expect(unasked.intake.reported.flatMap(({ witness }) => witness ?? [])).toEqual([]);
  });

  it.skipIf(lacks('cancelling'))('ends a call that rings, which then has no media', async () => {
    await using at = await bench(carrier, { ...answers, ringMs: 2_500 });
    const { carrierCallId } = await at.dialling.dial(await at.orderOf(), signal);
    await at.until(() => at.carried.phones()[0]?.state === 'ringing');
    await at.control.hangUp(carrierCallId, signal);
    await at.until(at.ended);
    expect(at.intake.reported.at(-1)?.progress).toMatchObject({
      // jambonz tells it from one that nobody answered by nothing.
      outcome: carrier === 'jambonz' ? 'no-answer' : 'cancelled',
    });
    expect(at.intake.attachments).toEqual([]);
  });

  test.each([
    [400, 21_211, false],
    [400, 21_215, false],
    [400, 13_224, false],
    [429, 20_429, true],
  ])('is refused for sure with %i and code %i, and asks once', async (status, code, retryable) => {
    await using at = await bench(carrier, { ...answers, order: { kind: 'refused', status, code: asCode(carrier, code) } });
    const refused = await at.dialling.dial(await at.orderOf(), signal).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(CarrierControlError);
    expect(refused).toMatchObject({ surelyNotDone: true, retryable, facts: { status, carrierCode: asCode(carrier, code) } });
    expect(at.carried.orders()).toHaveLength(1);
    expect(at.carried.phones()).toEqual([]);
  });

  test.each([
    ['its answer is lost', { kind: 'lost', placed: true }],
    ['the carrier fails behind it', { kind: 'fault', status: 500, placed: true }],
    ['the carrier is too busy to say', { kind: 'fault', status: 503, placed: true }],
  ] satisfies [string, SimulatedCallee['order']][])('finds the call where %s, and its reports name it too', async (_, order) => {
    await using at = await bench(carrier, { ...answers, ringMs: 2_500, order }, 1_000);
    const askedAtMs = at.clock.wallMs();
    const asked = await at.orderOf();
    await at.unknown(asked);
    expect(at.carried.orders()).toHaveLength(1);
    const [phone] = at.carried.phones();
    // The list lags behind.
    if (!lacks('history')) expect(await at.dialling.find(asked, askedAtMs, signal)).toEqual({ found: 'unknown' });
    await at.until(() => at.clock.wallMs() >= askedAtMs + 1_200);
    const found = await at.dialling.find(asked, askedAtMs, signal);
    expect(found).toMatchObject({
      found: 'placed',
      carrierCallId: phone?.order.carrierCallId,
      progress: { state: expect.stringMatching(/queued|ringing/u) as string },
    });
    await at.until(at.ended);
    expect(at.intake.reported[0]).toMatchObject({ callId: 'call_1', carrierCallId: phone?.order.carrierCallId });
    expect(at.intake.attachments).toMatchObject([{ callId: 'call_1' }]);
  });

  test.each([
    ['its connection is lost', { kind: 'lost', placed: false }],
    ['the carrier fails before it', { kind: 'fault', status: 500, placed: false }],
  ] satisfies [string, SimulatedCallee['order']][])(
    'knows after two minutes that no call was placed where %s',
    async (_, order) => {
      await using at = await bench(carrier, { ...answers, order });
      const askedAtMs = at.clock.wallMs();
      const asked = await at.orderOf();
      await at.unknown(asked);
      expect(await at.dialling.find(asked, askedAtMs, signal)).toEqual({ found: 'unknown' });
      at.clock.advance(119_000);
      expect(await at.dialling.find(asked, askedAtMs, signal)).toEqual({ found: 'unknown' });
      at.clock.advance(2_000);
      // Where a call may have come and gone unseen, nobody is called again for it.
      const found = lacks('history') ? 'unknown' : 'not-placed';
      expect(await at.dialling.find(asked, askedAtMs, signal)).toEqual({ found });
    },
  );

  it('waits for a slow answer, gives up on one that does not come, and never asks again', async () => {
    const slow = (afterMs: number): SimulatedCallee => ({ outcome: { kind: 'no-answer' }, order: { kind: 'taken', afterMs } });
    await using at = await bench(carrier, ({ index }) => slow(index === 0 ? 10_000 : 60_000));
    const first = at.dialling.dial(await at.orderOf(), signal);
    await at.until(() => at.carried.orders().length === 1);
    at.clock.advance(10_000);
    expect(await first).toHaveProperty('carrierCallId');
    const second = at.unknown(await at.orderOf('call_2'));
    await at.until(() => at.carried.orders().length === 2);
    at.clock.advance(16_000);
    await second;
    expect(at.carried.orders()).toHaveLength(2);
  });

  it('does not take an earlier call to the same number for the one that it looks for', async () => {
    await using at = await bench(carrier, ({ index }) =>
      index === 0 ? answers : { ...answers, order: { kind: 'lost', placed: false } },
    );
    await at.dialling.dial(await at.orderOf(), signal);
    await at.until(at.ended);
    at.clock.advance(30_000);
    const askedAtMs = at.clock.wallMs();
    const asked = await at.orderOf('call_2');
    await at.unknown(asked);
    at.clock.advance(125_000);
    expect((await at.dialling.find(asked, askedAtMs, signal)).found).toBe(lacks('history') ? 'unknown' : 'not-placed');
  });

  it('opens one socket for each token, and none for a forged, a spent or an expired one', async () => {
    await using at = await bench(carrier, answers);
    const { streamUrl } = await at.orderOf();
    const [head, body, sign] = (streamUrl.split('/').at(-1) ?? '').split('.');
    const base = streamUrl.slice(0, streamUrl.lastIndexOf('/'));
    const forged = Buffer.from(JSON.stringify({ cid: 'call_2', aid: 'att_call_2', aud: `stream:${carrier}`, exp: 9e9 }));
    expect(await openStream(`${base}/${head}.${forged.toString('base64url')}.${sign}`, {})).toBe(403);
    expect(await openStream(`${base}/${head}.${body}.`, {})).toBe(403);
    expect(await openStream(streamUrl.replace(`/carriers/${carrier}/`, `/carriers/${otherThan(carrier)}/`), {})).toBe(403);
    const opened = await Promise.all(Array.from({ length: 5 }, () => openStream(streamUrl, {})));
    expect(opened.filter((each) => each === 403)).toHaveLength(4);
    for (const each of opened) if (each instanceof WebSocket) each.terminate();
    const { streamUrl: late } = await at.orderOf('call_2');
    at.clock.advance(dialTokenMs(RING_MS) + 1_000);
    expect(await openStream(late, {})).toBe(403);
  });

  it('keeps secrets out of addresses, logs and errors', async () => {
    await using at = await bench(carrier, ({ index }) =>
      index === 0
        ? answers
        : { ...answers, order: { kind: 'refused', status: 400, message: `no ${tokens[1]}, no ${authToken}?` } },
    );
    const tokens: string[] = [];
    const asked = await at.orderOf();
    tokens.push(asked.streamUrl);
    await at.dialling.dial(asked, signal);
    await at.until(at.ended);
    const second = await at.orderOf('call_2');
    tokens.push(second.streamUrl);
    const refused = await at.dialling.dial(second, signal).catch((error: unknown) => error);
    expect(inspect(refused)).not.toContain(second.streamUrl.split('/').at(-1));
    const log = at.gateway.lines.join('\n');
    for (const secret of [...tokens.map((url) => url.split('/').at(-1) ?? ''), ...at.carried.secrets]) {
      expect(log).not.toContain(secret);
      for (const { statusUrl } of at.carried.orders()) expect(statusUrl).not.toContain(secret);
    }
  });

  it('carries many calls at once, each with its own media', async () => {
    const count = thorough(24, 300);
    const outcomes: readonly CalleeOutcome[] = [answers.outcome, { kind: 'busy' }, { kind: 'rejected' }, answers.outcome];
    await using at = await bench(carrier, ({ index }) => ({
      outcome: outcomes[index % outcomes.length] ?? { kind: 'busy' },
      ringMs: 200 + (index % 7) * 300,
    }));
    const calls = Array.from({ length: count }, (_, index) => `call_${index}`);
    const to = (index: number) => allowedTarget(`+9198123${String(index).padStart(5, '0')}`);
    await Promise.all(calls.map(async (callId, index) => at.dialling.dial(await at.orderOf(callId, { to: to(index) }), signal)));
    await at.until(() => at.carried.phones().every(({ isOver }) => isOver));
    await Promise.all(at.carried.phones().map(({ over }) => over));
    const attached = at.intake.attachments.map(({ callId }) => callId);
    expect(new Set(attached).size).toBe(attached.length);
    expect(attached).toHaveLength(count / 2);
    for (const { callId, attachment } of at.intake.attachments) {
      const order = at.carried.orders().find(({ statusUrl }) => new URL(statusUrl).pathname.endsWith(`/${callId}`));
      expect(attachment.started.carrierCallId).toBe(order?.carrierCallId);
    }
  });
});

/** Vonage's codes are words; jambonz and Asterisk have none. */
function asCode(carrier: string, code: number): number | string | undefined {
  if (carrier === 'jambonz' || carrier === 'asterisk') return undefined;
  return ['vonage', 'bandwidth'].includes(carrier) ? `PROBLEM_${'ABCDE'[code % 5]}` : code;
}
