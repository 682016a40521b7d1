import { MULAW_8K } from '../../audio/format.ts';
import type { JsonDialect } from '../json-dialect.ts';
import type { CarrierCapabilities } from '../port.ts';

export const twilioCapabilities: CarrierCapabilities = {
  clear: 'native',
  marks: 'native',
  // Queued marks return at once on clear, and look like played ones.
  marksReturnOnClear: 'yes',
  pacing: 'burst',
  frameMs: 0,
  // There is no outbound dtmf message: the call is redirected to `<Play digits>` and back to a new stream.
  dtmfOut: 'reattach',
  comesBack: true,
};

/**
 * Twilio Media Streams, bidirectional (`<Connect><Stream>`); twilio.com/docs/voice/media-streams/websocket-messages. Outbound messages must have
 * exactly these fields, otherwise they are ignored with warning 31951.
 */
export const twilioDialect: JsonDialect = {
  eventKey: 'event',
  events: { connected: 'connected', start: 'start', media: 'audio', dtmf: 'digit', mark: 'mark', stop: 'stop' },
  start: {
    streamId: [['start', 'streamSid'], ['streamSid']],
    callId: [['start', 'callSid']],
    parameters: [['start', 'customParameters']],
    encoding: [['start', 'mediaFormat', 'encoding']],
    rateHz: [['start', 'mediaFormat', 'sampleRate']],
    channels: [['start', 'mediaFormat', 'channels']],
    encodings: { 'audio/x-mulaw': 'mulaw' },
    ratesHz: [8000],
    format: MULAW_8K,
  },
  audio: {
    payload: ['media', 'payload'],
    timestampMs: ['media', 'timestamp'],
    track: ['media', 'track'],
    callerTracks: ['inbound', 'inbound_track'],
    otherTracks: ['outbound', 'outbound_track'],
  },
  digit: ['dtmf', 'digit'],
  markName: ['mark', 'name'],
  stopReason: ['stop', 'reason'],
  send: {
    audio: (streamId) => [`{"event":"media","streamSid":${JSON.stringify(streamId)},"media":{"payload":"`, '"}}'],
    mark: (streamId, name) => JSON.stringify({ event: 'mark', streamSid: streamId, mark: { name } }),
    clear: (streamId) => JSON.stringify({ event: 'clear', streamSid: streamId }),
  },
};
