import { z } from 'zod';
import type { AlertDelivery, AlertWatch } from '../../../alerts/alert-watch.ts';
import { ALERT_FIGURES, type AlertChannel } from '../../../config/alerts.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps } from '../api-app.ts';
import { refuseTenant } from '../system/system-routes.ts';
import { isoTime, optionalTime } from '../views.ts';

const deliveryView = z.object({
  id: z.string(),
  channel: z.string(),
  /** Null for a test. */
  rule: z.string().nullable(),
  notice: z.enum(['firing', 'resolved', 'test']),
  state: z.enum(['pending', 'delivered', 'failed']),
  tries: z.int(),
  reason: z.string().nullable(),
  at: z.iso.datetime(),
});

const alertsView = z.object({
  channels: z.array(
    z.object({
      name: z.string(),
      kind: z.enum(['webhook', 'mail', 'slack']),
      /** The host that is sent to; never a secret. */
      to: z.string(),
    }),
  ),
  rules: z.array(
    z.object({
      name: z.string(),
      figure: z.enum(ALERT_FIGURES),
      above: z.number().nullable(),
      below: z.number().nullable(),
      windowMinutes: z.int(),
      bot: z.string().nullable(),
      channels: z.array(z.string()),
      /** `unknown` before the first look, and with too few calls. */
      state: z.enum(['firing', 'quiet', 'unknown']),
      value: z.number().nullable(),
      since: z.iso.datetime().nullable(),
      /** When it was last told that it fires. */
      toldAt: z.iso.datetime().nullable(),
    }),
  ),
  /** Newest first, at most 100. */
  deliveries: z.array(deliveryView),
});

export type AlertsView = z.output<typeof alertsView>;
export type AlertDeliveryView = z.output<typeof deliveryView>;

/** Alert channels and rules: served to the operator's keys only. */
export function alertRoutes(app: ApiApp, { alerts, audit }: ApiDeps): void {
  if (alerts === undefined) return;
  app.get(
    '/alerts',
    about('system:read', 'Alert channels, rules as they stand, and the last deliveries', { response: { 200: alertsView } }),
    async ({ principal }) => {
      refuseTenant(principal);
      return viewOf(alerts);
    },
  );
  app.post(
    '/alerts/test',
    about('system:control', 'Send a test to one alert channel', {
      body: z.strictObject({ channel: z.string().min(1).max(63) }),
      response: { 200: deliveryView },
    }),
    async ({ principal, body: { channel } }) => {
      refuseTenant(principal);
      const sent = await alerts.test(channel);
      if (sent === undefined) throw new RequestRefused(404, 'There is no such alert channel.');
      const { id: by, tenantId } = principal;
      const outcome = sent.state === 'delivered' ? 'done' : 'failed';
      const event = { by, tenantId, action: 'alerts.test', subject: channel, outcome } as const;
      await audit?.add(event).catch((error: unknown) => app.log.error({ ...event, error }, 'audit log write failed'));
      return viewOfDelivery(sent);
    },
  );
}

function viewOf({ channels, rules, deliveries }: Pick<AlertWatch, 'channels' | 'rules' | 'deliveries'>): AlertsView {
  const names = channels.map(({ name }) => name);
  return {
    channels: channels.map((channel) => ({ name: channel.name, kind: channel.kind, to: targetOf(channel) })),
    rules: rules.map(({ rule, state, reading }) => ({
      name: rule.name,
      figure: rule.figure,
      above: rule.above ?? null,
      below: rule.below ?? null,
      windowMinutes: rule.windowMinutes,
      bot: rule.bot ?? null,
      channels: rule.channels ?? names,
      state: state.sinceMs !== undefined ? 'firing' : reading?.value === undefined ? 'unknown' : 'quiet',
      value: reading?.value ?? null,
      since: optionalTime(state.sinceMs),
      toldAt: optionalTime(state.toldAtMs),
    })),
    deliveries: deliveries.map(viewOfDelivery),
  };
}

function viewOfDelivery({ atMs, ...delivery }: AlertDelivery): AlertDeliveryView {
  return { ...delivery, at: isoTime(atMs) };
}

function targetOf(channel: AlertChannel): string {
  switch (channel.kind) {
    case 'webhook':
      return new URL(channel.url).host;
    case 'slack':
      return new URL(channel.url.reveal()).host;
    case 'mail':
      return channel.to.join(', ');
  }
}
