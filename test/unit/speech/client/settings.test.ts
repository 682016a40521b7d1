import { expect, test } from 'vitest';
import { serviceUrl } from '../../../../src/speech/client/settings.ts';

test.each([
  { base: 'https://asr.example', url: 'https://asr.example/v1/realtime' },
  { base: 'https://asr.example/', url: 'https://asr.example/v1/realtime' },
  { base: 'https://gateway.example/asr', url: 'https://gateway.example/asr/v1/realtime' },
  { base: 'wss://gateway.example:8443/speech/asr//', url: 'wss://gateway.example:8443/speech/asr/v1/realtime' },
  { base: 'https://gateway.example//other.example', url: 'https://gateway.example//other.example/v1/realtime' },
  { base: 'https://gateway.example/asr?tier=2#docs', url: 'https://gateway.example/asr/v1/realtime?tier=2' },
])('an endpoint of $base is at $url', ({ base, url }) => {
  expect(serviceUrl(base, '/v1/realtime').href).toBe(url);
});
