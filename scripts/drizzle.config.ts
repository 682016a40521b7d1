import { defineConfig } from 'drizzle-kit';

/** `npx drizzle-kit generate --config scripts/drizzle.config.ts` writes the next SQL migration from the schema, offline. Released migrations never change; what its end adds by hand (the tenants' role) is not made by it. */
export default defineConfig({ dialect: 'postgresql', schema: './src/records/postgres/*schema.ts', out: './config/migrations' });
