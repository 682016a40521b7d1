import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { SpeechPlatformSettings } from '../../src/speech/platform.ts';

/** The platform that answers at once, in a process of its own. */
export async function startStandIn(): Promise<AsyncDisposable & { readonly speech: SpeechPlatformSettings }> {
  const program = fileURLToPath(new URL('stand-in-platform.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const urls = z.object({ asrUrl: z.string(), ttsUrl: z.string() }).parse(JSON.parse(line));
    return {
      speech: { ...urls, token: 'bench' },
      async [Symbol.asyncDispose]() {
        child.stdin.end();
      },
    };
  }
  throw new Error('the stand-in platform did not start');
}
