import fc from 'fast-check';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { containerOf } from '../../src/audio/media/container.ts';
import { decodeFile } from '../../src/audio/media/decode-file.ts';

const fixtures = join(import.meta.dirname, '../fixtures/audio');
const folder = mkdtempSync(join(tmpdir(), 'offhook-media-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const names = ['tones.mp3', 'tones.flac', 'tones-opus.ogg', 'tones-vorbis.ogg', 'tones.webm', 'tones.mkv', 'tones-vorbis.webm'];

it.each(names)('%s with damaged bytes is decoded or refused, and nothing else', async (name) => {
  const bytes = readFileSync(join(fixtures, name));
  const [inputPath, outputPath] = [join(folder, 'in'), join(folder, 'out')];
  const edits = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(edits, async (changes) => {
      const damaged = Uint8Array.from(bytes);
      for (const [at, value] of changes) damaged[at] = value;
      writeFileSync(inputPath, damaged);
      rmSync(outputPath, { force: true });
      const outcome = await decodeFile({
        inputPath,
        outputPath,
        container: containerOf(damaged) ?? 'wav',
        maxSeconds: 60,
      }).then(
        () => 'decoded',
        (error: unknown) => (error as Error).constructor.name,
      );
      expect(['decoded', 'MediaUnreadableError', 'MediaNeedsFfmpegError', 'MediaTooLongError']).toContain(outcome);
    }),
    { numRuns: 300 },
  );
});
