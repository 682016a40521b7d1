import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

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

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/console/',
  plugins: [react(), compressed()],
  build: {
    outDir: built,
    emptyOutDir: true,
    target: 'es2023',
    // The policy of the page allows files of its own address alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
