import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { build, defineConfig, type Plugin } from 'vite';

const built = fileURLToPath(new URL('../../dist/console/', import.meta.url));
/** Smaller files gain nothing. */
const LEAST_BYTES = 1024;

/** Writes `.br` and `.gz` beside each text, so that the gateway compresses nothing while calls go on. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    closeBundle() {
      for (const name of readdirSync(built, { recursive: true, encoding: 'utf8' })) {
        const path = join(built, name);
        if (!/\.(?:js|css|svg|json)$/u.test(name) || statSync(path).size < LEAST_BYTES) continue;
        const bytes = readFileSync(path);
        writeFileSync(`${path}.br`, brotliCompressSync(bytes));
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
      }
    },
  };
}

/** The button for pages of other origins, and its audio worklets: one file each, with a fixed name. */
const EMBEDDED = {
  'embed.js': 'embed/embed.ts',
  'microphone-worklet.js': 'audio/microphone-worklet.ts',
  'speaker-worklet.js': 'audio/speaker-worklet.ts',
} as const;

function embedded(): Plugin {
  return {
    name: 'embedded',
    async writeBundle() {
      for (const [name, source] of Object.entries(EMBEDDED))
        await build({
          configFile: false,
          publicDir: false,
          logLevel: 'warn',
          build: {
            outDir: join(built, 'embed'),
            emptyOutDir: false,
            target: 'es2022',
            modulePreload: false,
            reportCompressedSize: false,
            rolldownOptions: {
              input: fileURLToPath(new URL(source, import.meta.url)),
              output: { format: 'iife', entryFileNames: name },
            },
          },
        });
    },
  };
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/console/',
  plugins: [react(), embedded(), compressed()],
  build: {
    outDir: built,
    emptyOutDir: true,
    target: 'es2023',
    // The policy of the page allows files of its own address alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // What most pages share is one file: many small files are more bytes to send.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 7 }] } } },
  },
});
