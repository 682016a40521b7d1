import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startScripted } from './scripted-platform.ts';
import { nodeArguments } from '../../support/program.ts';

const SCRIPT = fileURLToPath(new URL('../../support/speech-child.ts', import.meta.url));

it('keeps the process of a plain script alive through every wait of the client', async () => {
  await using platform = await startScripted({
    mint: (index) =>
      index === 0 ? { status: 502, body: {} } : { status: 200, body: { token: `token-${index}`, expires_in: 900 } },
    answer: (path, index) => {
      if (path === '/v1/audio/speech')
        return { status: 200, headers: { 'content-type': 'audio/basic' }, body: Buffer.alloc(160) };
      return index === 0 ? { status: 429, body: '{"detail":"slow down"}' } : { status: 200, body: '{"text":"good morning"}' };
    },
    onText: (scripted, text, index) => {
      const { socket } = scripted;
      if (text.includes('"input"')) {
        if (index === 0) return socket.close(1011);
        scripted.json({ type: 'chunk', chunk_index: 0, format: 'pcm', sample_rate: 24_000 });
        socket.send(Buffer.alloc(320));
        scripted.json({ type: 'completion', total_chunks: 1 });
      } else if (text.includes('"sample_rate"')) {
        scripted.json({ type: 'ready' });
        if (index < 4) socket.close(1012);
      } else if (text === 'commit') scripted.json({ type: 'final', seg: 0, text: 'seven', end_of_utterance: true });
    },
  });
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...(await nodeArguments(SCRIPT)), platform.url]);
  expect({ said: stdout.trim().split('\n'), stderr }).toEqual({
    said: [
      'after a 502 of the token service: token-1',
      'after a 429 of the recogniser: good morning',
      'after a lost synthesis socket: 320',
      'after two lost recognition sockets: seven',
      'after a wait for the slot of unread audio: mulaw mulaw',
      'after a fetch that gave no answer: TimeoutError: The operation was aborted due to timeout',
    ],
    stderr: '',
  });
});
