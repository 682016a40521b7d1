import { encodeMulaw } from '../../src/audio/g711.ts';
import { sayTones } from '../integration/platform/tone-engines.ts';
import type { RawCarrier } from '../support/raw-carrier.ts';

/** A seeded source of choices. */
export interface Dice {
  below(count: number): number;
  /** True for this part of the throws, 0 to 1. */
  chance(part: number): boolean;
}

export type WireMessage =
  | { readonly how: 'text'; readonly data: string }
  | { readonly how: 'binary' | 'ping' | 'garbage'; readonly data: Uint8Array }
  /** One message in several WebSocket frames. */
  | { readonly how: 'pieces'; readonly parts: readonly string[] }
  | { readonly how: 'pause'; readonly ms: number }
  /** The spent stream address is tried again. */
  | { readonly how: 'replay' }
  /** The carrier asks for the same call again, with or without dropping its stream. */
  | { readonly how: 'reconnect' };

const speech = encodeMulaw(sayTones(['alpha', 'bravo'], 8_000));

/** A session as Twilio would send it: connected, start, audio with keys and marks in between. */
export function usualMessages(carrier: RawCarrier, dice: Dice): string[] {
  const { streamSid } = carrier;
  const messages = [JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }), carrier.start()];
  const frames = dice.below(60);
  for (let frame = 0; frame < frames; frame += 1) {
    const at = (frame * 160) % (speech.length - 160);
    messages.push(carrier.media(speech.subarray(at, at + 160), 102 + frame * 20));
    if (dice.chance(0.05)) messages.push(JSON.stringify({ event: 'dtmf', streamSid, dtmf: { digit: String(dice.below(10)) } }));
    if (dice.chance(0.05)) messages.push(JSON.stringify({ event: 'mark', streamSid, mark: { name: `0.t0s0.${frame}` } }));
  }
  return messages;
}

/** The same messages as a carrier gone wrong would send them. */
export function messUp(messages: readonly string[], dice: Dice): WireMessage[] {
  const sent: WireMessage[] = [];
  // Some sessions are nearly sound, so that the call itself is reached; others are wild.
  const wildness = [0.02, 0.1, 0.5][dice.below(3)]!;
  for (const message of messages) {
    sent.push(...(dice.chance(wildness) ? mess(message, messages, dice) : [{ how: 'text', data: message } as const]));
  }
  return sent;
}

function mess(message: string, all: readonly string[], dice: Dice): WireMessage[] {
  const text = (data: string): WireMessage[] => [{ how: 'text', data }];
  const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => dice.below(256));
  switch (dice.below(20)) {
    case 0:
      return []; // Lost.
    case 1:
      return [...text(message), ...text(message)];
    case 2:
      return text(message.slice(0, dice.below(message.length)));
    case 3:
      return text(message + all[dice.below(all.length)]!);
    case 4:
      return text(swapped(message, dice));
    case 5:
      return text(all[dice.below(all.length)]!);
    case 6:
      return [{ how: 'binary', data: bytes(dice.below(400)) }];
    case 7:
      return [{ how: 'binary', data: Buffer.from(message) }];
    case 8: {
      const cut = dice.below(message.length);
      const ping: WireMessage = { how: 'ping', data: bytes(dice.below(125)) };
      return [ping, { how: 'pieces', parts: [message.slice(0, cut), '', message.slice(cut)] }];
    }
    case 9:
      return dice.chance(0.2) ? [{ how: 'garbage', data: bytes(1 + dice.below(40)) }] : [];
    case 10:
      // Close to the largest message that is read, and beyond it.
      return text(JSON.stringify({ event: 'media', media: { payload: 'A'.repeat([60_000, 65_400, 65_500][dice.below(3)]!) } }));
    case 11:
      return dice.chance(0.2) ? text('x'.repeat([65_537, 1_000_000][dice.below(2)]!)) : [];
    case 12:
      return text('['.repeat(1 + dice.below(30_000)));
    case 13: {
      const wild = ['1e308', '-1', '99999999999999', 'NaN', '0', '', '184467440737', '4294967296'][dice.below(8)]!;
      return text(message.replace(/"timestamp":"[^"]*"/u, `"timestamp":"${wild}"`));
    }
    case 14:
      return text(message.replace(/"(?:streamSid|callSid)":"[^"]*"/u, '"$&":null').replace('""', '"'));
    case 15:
      return text('{"event":"start","start":{"__proto__":{"polluted":1},"streamSid":"MZ1","callSid":"CA1"}}');
    case 16:
      return text(JSON.stringify({ event: 'stop', stop: 7 }));
    case 17:
      return text(JSON.stringify({ event: 'mark', mark: { name: 'm'.repeat(60_000) } }));
    case 18:
      return [{ how: 'pause', ms: dice.below(200) }];
    default:
      return dice.chance(0.5) ? [{ how: 'replay' }] : [{ how: 'reconnect' }];
  }
}

/** The text with one character replaced. */
function swapped(text: string, dice: Dice): string {
  const at = dice.below(text.length);
  return text.slice(0, at) + String.fromCodePoint(32 + dice.below(0x3_00)) + text.slice(at + 1);
}
