/** A message from the gateway, judged as strictly as Twilio does: exactly its own fields, or warning 31951. */
export type GatewayMessage =
  | { readonly event: 'media'; readonly payload: Uint8Array }
  | { readonly event: 'mark'; readonly name: string }
  | { readonly event: 'clear' };

export type Judged = { readonly message: GatewayMessage } | { readonly warning: string };

export function judgeMessage(text: string, streamSid: string): Judged {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { warning: '31951: not JSON' };
  }
  if (!isRecord(value)) return { warning: '31951: not an object' };
  if (value['streamSid'] !== streamSid) return { warning: `31951: streamSid is ${String(value['streamSid'])}` };
  switch (value['event']) {
    case 'media': {
      const { media } = value;
      if (!hasExactly(value, ['event', 'streamSid', 'media']) || !isRecord(media) || !hasExactly(media, ['payload']))
        return extra('media');
      const payload = media['payload'];
      if (typeof payload !== 'string' || payload.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/u.test(payload))
        return { warning: '31951: payload is not base64' };
      return { message: { event: 'media', payload: Buffer.from(payload, 'base64') } };
    }
    case 'mark': {
      const { mark } = value;
      if (!hasExactly(value, ['event', 'streamSid', 'mark']) || !isRecord(mark) || !hasExactly(mark, ['name']))
        return extra('mark');
      return typeof mark['name'] === 'string'
        ? { message: { event: 'mark', name: mark['name'] } }
        : { warning: '31951: mark without name' };
    }
    case 'clear':
      return hasExactly(value, ['event', 'streamSid']) ? { message: { event: 'clear' } } : extra('clear');
    default:
      return { warning: `31951: unknown event ${String(value['event'])}` };
  }
}

function extra(event: string): Judged {
  return { warning: `31951: ${event} with missing or extra fields` };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasExactly(value: Record<string, unknown>, keys: readonly string[]): boolean {
  const found = Object.keys(value);
  return found.length === keys.length && keys.every((key) => found.includes(key));
}
