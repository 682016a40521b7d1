import { defineConfig } from 'drizzle-kit';

/** `npx drizzle-kit generate` writes the next SQL migration from the schema, offline. Committed migrations never change. */
export default defineConfig({ dialect: 'postgresql', schema: './src/store/postgres/*schema.ts', out: './migrations' });
