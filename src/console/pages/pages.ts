import type { ComponentType } from 'react';
import type { ApiScope } from '../../http/api/system/api-keys.ts';
import { loaded } from '../parts/loaded.ts';

export interface ConsolePage {
  /** Below `/console`. */
  readonly path: string;
  /** Its name in the menu (`shell.tsx`); absent for pages that are reached from others. */
  readonly menu?: 'live' | 'calls' | 'campaigns' | 'bots' | 'talk' | 'system' | 'audit' | 'settings';
  /** Without it the page is not there. */
  readonly scope: ApiScope;
  readonly view: ComponentType;
}

/** Every page, in the menu's order: one line each. Pages are loaded when they are opened. */
export const PAGES: readonly ConsolePage[] = [
  { path: '/live', menu: 'live', scope: 'calls:read', view: loaded(() => import('./live/live-page.tsx'), 'LivePage') },
  { path: '/live/:callId', scope: 'calls:read', view: loaded(() => import('./live/live-call-page.tsx'), 'LiveCallPage') },
  { path: '/calls', menu: 'calls', scope: 'calls:read', view: loaded(() => import('./calls/calls-page.tsx'), 'CallsPage') },
  { path: '/calls/:callId', scope: 'calls:read', view: loaded(() => import('./call/call-page.tsx'), 'CallPage') },
  {
    path: '/campaigns',
    menu: 'campaigns',
    scope: 'campaigns:read',
    view: loaded(() => import('./campaigns/campaigns-page.tsx'), 'CampaignsPage'),
  },
  {
    path: '/campaigns/new',
    scope: 'campaigns:write',
    view: loaded(() => import('./campaigns/new-campaign-page.tsx'), 'NewCampaignPage'),
  },
  { path: '/campaigns/lists', scope: 'dialling:read', view: loaded(() => import('./campaigns/lists-page.tsx'), 'ListsPage') },
  {
    path: '/campaigns/:id',
    scope: 'campaigns:read',
    view: loaded(() => import('./campaigns/campaign-page.tsx'), 'CampaignPage'),
  },
  { path: '/bots', menu: 'bots', scope: 'bots:read', view: loaded(() => import('./bots/bots-page.tsx'), 'BotsPage') },
  { path: '/bots/:name', scope: 'bots:read', view: loaded(() => import('./bots/bot-page.tsx'), 'BotPage') },
  { path: '/bots/:name/edit', scope: 'bots:write', view: loaded(() => import('./bots/edit/edit-page.tsx'), 'EditBotPage') },
  { path: '/talk', menu: 'talk', scope: 'calls:talk', view: loaded(() => import('./talk/talk-page.tsx'), 'TalkPage') },
  { path: '/system', menu: 'system', scope: 'system:read', view: loaded(() => import('./system/system-page.tsx'), 'SystemPage') },
  { path: '/audit', menu: 'audit', scope: 'audit:read', view: loaded(() => import('./audit/audit-page.tsx'), 'AuditPage') },
  {
    path: '/settings',
    menu: 'settings',
    scope: 'settings:read',
    view: loaded(() => import('./settings/settings-page.tsx'), 'SettingsPage'),
  },
  { path: '/settings/:part', scope: 'settings:read', view: loaded(() => import('./settings/settings-page.tsx'), 'SettingsPage') },
];
