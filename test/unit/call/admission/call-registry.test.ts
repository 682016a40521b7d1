import { expect, it } from 'vitest';
import { admit } from '../../../../src/call/admission/call-door.ts';
import { CallRegistry, type CallRegistryOptions } from '../../../../src/call/admission/call-registry.ts';
import { type CallServices, DEFAULT_CALL_TIMING } from '../../../../src/call/services.ts';
import type { LeftBehind } from '../../../../src/call/resume/resumed-call.ts';
import { silentSpeech } from './silent-speech.ts';
import { type Bot, botSettings } from '../../../../src/config/bots.ts';

const bot: Bot = {
  ...botSettings.parse({ name: 'clinic', default: true, voice: 'Nisha', dialog: { kind: 'module', file: 'x.js' } }),
  folder: '.',
};
const inbound = {
  carrier: 'twilio',
  carrierCallId: 'CA1',
  from: '+15550101',
  to: '+15550102',
  direction: 'inbound',
  botName: undefined,
} as const;

const full = (): never => {
  throw new Error('ENOSPC: no space left on device');
};

/** A registry whose calls never begin: what runs them is not there. */
function registry(options: Pick<CallRegistryOptions, 'lease'> & Pick<CallRegistryOptions, 'record'>) {
  let held = 0;
  const calls = new CallRegistry(
    {
      bots: [bot],
      dialogs: new Map([['clinic', { create: full }]]),
      timing: DEFAULT_CALL_TIMING,
      maximum: 4,
      shedding: () => false,
      reserveSpeech() {
        held += 1;
        return { ...silentSpeech, release: () => void (held -= 1) };
      },
      speechIsUp: () => true,
      ...options,
    },
    {} as CallServices,
  );
  return { calls, held: () => held };
}

it.each([
  { note: 'a disk that refuses the lease', options: { lease: full } },
  { note: 'a fixture that cannot be begun', options: { lease: () => true, record: full } },
])('holds no slot of the speech platform after $note', ({ options }) => {
  const { calls, held } = registry(options);
  for (let tries = 0; tries < 20; tries += 1) expect(() => calls.answer(inbound)).toThrow('ENOSPC');
  expect([held(), calls.active]).toEqual([0, 0]);
});

it('holds none for a call that another process has', () => {
  const { calls, held } = registry({ lease: () => false });
  expect(calls.answer(inbound)).toMatchObject({ kind: 'refuse', cause: 'lease' });
  expect(held()).toBe(0);
});

it('takes no call any more once the others are told goodbye, and holds nothing for it', async () => {
  const { calls, held } = registry({ lease: () => true });
  expect(calls.draining).toBe(false);
  await calls.shutDown();
  expect(calls.answer(inbound)).toMatchObject({ kind: 'refuse', cause: 'stopping' });
  expect([calls.draining, held()]).toEqual([true, 0]);
});

it('finds the bot by our number: the one that was called, or the one that a call of ours comes from', () => {
  const door = {
    bots: [{ ...bot, default: false, numbers: ['+15550102'] }],
    maximum: 4,
    shedding: () => false,
    reserveSpeech: () => silentSpeech,
    speechIsUp: () => true,
  };
  const outbound = { ...inbound, direction: 'outbound', from: inbound.to, to: inbound.from } as const;
  for (const call of [inbound, outbound])
    expect(admit(door, call, { active: [] })).toMatchObject({ kind: 'admit', bot: { name: 'clinic' } });
  // One that we dialled is not begun anew when it comes back by a redirect after its end: it has duties, and its gate said yes once.
  const back = { ...outbound, goesOnOnly: 'dialled' } as const;
  expect(admit(door, back, { active: [] })).toMatchObject({ kind: 'refuse', cause: 'dialled-over' });
  const replayed = { ...inbound, goesOnOnly: 'replayed' } as const;
  expect(admit(door, replayed, { active: [] })).toMatchObject({ kind: 'refuse', cause: 'replayed' });
});

it('begins a call in the version that its id gives it, and resumes it in the version that it began with', async () => {
  const create = full;
  const [current, tried, old] = [{ create }, { create }, { create }];
  const trial = { percent: 50, bot: { ...bot, version: 'bbb' } };
  const begun: (readonly [version: string | undefined, dialog: unknown])[] = [];
  const dialogs = new Map([
    ['clinic', current],
    ['clinic@bbb', tried],
    ['clinic@old', old],
  ]);
  const asked: string[] = [];
  const get = dialogs.get.bind(dialogs);
  dialogs.get = (key) => {
    asked.push(key);
    return get(key);
  };
  const calls = new CallRegistry(
    {
      bots: [{ ...bot, version: 'aaa', trial }],
      dialogs,
      timing: DEFAULT_CALL_TIMING,
      maximum: 4,
      shedding: () => false,
      reserveSpeech: () => silentSpeech,
      speechIsUp: () => true,
      lease: () => true,
      left: async () =>
        ({
          record: { ...inbound, botName: 'clinic', botVersion: 'old', tenantId: 'default' },
          resumed: { next: { do: 'ask' }, state: {} },
          began: { ...bot, version: 'old' },
        }) as unknown as LeftBehind,
      record({ bot: { version }, dialog }) {
        begun.push([version, dialog]);
        return full();
      },
    },
    {} as CallServices,
  );
  for (let call = 0; call < 20; call += 1) expect(() => calls.answer({ ...inbound, callId: `call_${call}` })).toThrow('ENOSPC');
  expect(new Set(begun.map(([version]) => version))).toEqual(new Set(['aaa', 'bbb']));
  for (const [version, dialog] of begun) expect(dialog).toBe(version === 'aaa' ? current : tried);
  const first = [...begun];
  begun.splice(0);
  for (let call = 0; call < 20; call += 1) expect(() => calls.answer({ ...inbound, callId: `call_${call}` })).toThrow('ENOSPC');
  expect(begun).toEqual(first);
  asked.splice(0);
  await expect(calls.goOn(inbound, 'call_1')).rejects.toThrow();
  expect(asked).toEqual(['clinic@old']);
});
