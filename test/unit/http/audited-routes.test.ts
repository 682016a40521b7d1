import { expect, it } from 'vitest';
import { analysisRoutes } from '../../../src/http/api/calls/analysis-routes.ts';
import type { ApiApp, ApiDeps } from '../../../src/http/api/api-app.ts';
import { revisionOf } from '../../../src/config/bot-versions.ts';
import { botEditRoutes } from '../../../src/http/api/bots/bot-edit-routes.ts';
import { botEvalRoutes } from '../../../src/http/api/bots/bot-eval-routes.ts';
import { botChatRoutes } from '../../../src/http/api/bots/bot-chat-routes.ts';
import { reviewRoutes } from '../../../src/http/api/calls/review-routes.ts';
import { browserCallRoute } from '../../../src/http/api/calls/live-call-routes.ts';
import { deliveryRoutes, jobRoutes } from '../../../src/http/api/system/operation-routes.ts';

const entries: unknown[] = [];
const deps = {
  audit: { add: async (event: unknown) => void entries.push(event) },
  dispatcher: { replay: async () => true },
  queue: {
    failed: async () => [{ id: 'job_1', payload: { tenantId: 'acme' }, attempts: 1, reason: '', failedAtMs: 0 }],
    retry: async () => true,
    enqueue: async () => undefined,
  },
  profiles: { names: ['sales'] },
  store: {
    calls: { get: async () => ({}) },
    reviews: { change: async () => true, get: async () => undefined, comments: async () => [] },
  },
  clock: { wallMs: () => 0 },
  live: { listening: { bots: () => ['clinic'] } },
  browserCalls: { begin: async () => ({ callId: 'call_2', streamUrl: 'wss://a.test', expiresAt: '' }) },
  bots: {
    bots: () => [{ name: 'clinic', tenant: 'acme' }],
    editing: {
      readOnly: async () => undefined,
      source: () => 'name: clinic',
      versionText: () => 'name: clinic',
      check: async () => ({ bot: {}, problems: [], others: [] }),
      publish: async () => ({ number: 8, problems: [] }),
      restore: async () => [],
    },
    evals: { begin: () => ({ state: 'running', isDraft: false, startedAtMs: 0, calls: 0, of: 0 }) },
    chats: { open: async () => ({ id: 'chat_1', bot: 'clinic', events: [], slots: {}, expectsSecret: false }) },
  },
} as unknown as ApiDeps;

it.each([
  {
    add: deliveryRoutes,
    path: '/webhooks/:id/send',
    params: { id: 'msg_1' },
    body: {},
    action: 'webhook.send',
    subject: 'msg_1',
  },
  { add: jobRoutes, path: '/jobs/:queue/retry', params: { queue: 'post-call' }, body: {}, action: 'job.retry', subject: 'job_1' },
  {
    add: analysisRoutes,
    path: '/calls/:callId/analyses',
    params: { callId: 'call_1' },
    body: { profile: 'sales' },
    action: 'call.analyse',
    subject: 'call_1',
  },
  {
    add: reviewRoutes,
    path: '/calls/:callId/review',
    params: { callId: 'call_1' },
    body: { state: 'done' },
    action: 'call.review',
    subject: 'call_1',
  },
  {
    add: browserCallRoute,
    path: '/browser-calls',
    params: {},
    body: { bot: 'clinic' },
    action: 'browser-call.begin',
    subject: 'call_2',
  },
  {
    add: botEditRoutes,
    path: '/bots/:name/versions',
    params: { name: 'clinic' },
    body: { text: 'name: clinic', base: revisionOf('name: clinic'), note: '' },
    action: 'bot.publish',
    subject: 'clinic version 8',
  },
  {
    add: botEditRoutes,
    path: '/bots/:name/rollback',
    params: { name: 'clinic' },
    body: { version: 7 },
    action: 'bot.rollback',
    subject: 'clinic version 7',
  },
  {
    add: botChatRoutes,
    path: '/bots/:name/chats',
    params: { name: 'clinic' },
    body: { outbound: false, variables: {} },
    action: 'bot-chat.begin',
    subject: 'chat_1',
  },
  {
    add: botEvalRoutes,
    path: '/bots/:name/evals',
    params: { name: 'clinic' },
    body: {},
    action: 'bot-eval.begin',
    subject: 'clinic',
  },
])('writes to the audit log who asked for $path', async ({ add, path, params, body, action, subject }) => {
  const handlers = new Map<string, (request: object) => Promise<unknown>>();
  const app = {
    get: () => undefined,
    delete: () => undefined,
    put: () => undefined,
    post: (at: string, _options: unknown, handler: (request: object) => Promise<unknown>) => void handlers.set(at, handler),
  } as unknown as ApiApp;
  add(app, deps);
  entries.length = 0;
  await handlers.get(path)?.({
    principal: { id: 'key_1', tenantId: 'acme', scopes: [] },
    params,
    body,
    headers: {},
    id: 'req_1',
  });
  expect(entries).toEqual([{ by: 'key_1', tenantId: 'acme', action, subject, outcome: 'done' }]);
});
