import {
  Activity,
  Bot,
  Coins,
  FlaskConical,
  History,
  Inbox,
  LayoutDashboard,
  type LucideIcon,
  Megaphone,
  Mic,
  PhoneCall,
  ScrollText,
  Settings,
} from 'lucide-react';
import type { ComponentType } from 'react';
import type { ApiScope } from '../../http/api/system/api-keys.ts';
import { loaded } from '../parts/loaded.ts';
import { InboxBadge } from './inbox/badge.tsx';
import { LiveBadge } from './live/live-badge.tsx';
import type { MenuName } from './menu-words.ts';
import { SystemBadge } from './system/system-badge.tsx';

export interface ConsolePage {
  /** Below `/console`. */
  readonly path: string;
  /** Absent for pages that are reached from others. */
  readonly menu?: MenuEntry;
  /** Without it the page is not there. */
  readonly scope: ApiScope;
  readonly view: ComponentType;
}

export interface MenuEntry {
  readonly name: MenuName;
  /** The part of the menu that it stands in. */
  readonly group: MenuGroup;
  readonly icon: LucideIcon;
  /** At the end of its line: usually a `MenuBadge` where something waits or is wrong. */
  readonly badge?: ComponentType;
}

export const MENU_GROUPS = ['monitor', 'build', 'manage'] as const;
export type MenuGroup = (typeof MENU_GROUPS)[number];

/** Every page, in the menu's order. The first one that the user may see is opened first. Pages are loaded when they are opened. */
export const PAGES: readonly ConsolePage[] = [
  {
    path: '/overview',
    menu: { name: 'overview', group: 'monitor', icon: LayoutDashboard },
    scope: 'bots:read',
    view: loaded(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
  },
  {
    path: '/inbox',
    menu: { name: 'bad-calls', group: 'monitor', icon: Inbox, badge: InboxBadge },
    scope: 'calls:read',
    view: loaded(() => import('./inbox/inbox-page.tsx'), 'InboxPage'),
  },
  {
    path: '/live',
    menu: { name: 'live', group: 'monitor', icon: PhoneCall, badge: LiveBadge },
    scope: 'calls:read',
    view: loaded(() => import('./live/live-page.tsx'), 'LivePage'),
  },
  { path: '/live/:callId', scope: 'calls:read', view: loaded(() => import('./live/live-call-page.tsx'), 'LiveCallPage') },
  {
    path: '/calls',
    menu: { name: 'calls', group: 'monitor', icon: History },
    scope: 'calls:read',
    view: loaded(() => import('./calls/calls-page.tsx'), 'CallsPage'),
  },
  { path: '/calls/:callId', scope: 'calls:read', view: loaded(() => import('./call/call-page.tsx'), 'CallPage') },
  {
    path: '/campaigns',
    menu: { name: 'campaigns', group: 'monitor', icon: Megaphone },
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
  {
    path: '/bots',
    menu: { name: 'bots', group: 'build', icon: Bot },
    scope: 'bots:read',
    view: loaded(() => import('./bots/bots-page.tsx'), 'BotsPage'),
  },
  { path: '/bots/:name', scope: 'bots:read', view: loaded(() => import('./bots/bot-page.tsx'), 'BotPage') },
  { path: '/bots/:name/edit', scope: 'bots:write', view: loaded(() => import('./bots/edit/edit-page.tsx'), 'EditBotPage') },
  {
    path: '/evals',
    menu: { name: 'evals', group: 'build', icon: FlaskConical },
    scope: 'bots:read',
    view: loaded(() => import('./evals/evals-page.tsx'), 'EvalsPage'),
  },
  { path: '/evals/:id', scope: 'bots:read', view: loaded(() => import('./evals/eval-page.tsx'), 'EvalPage') },
  {
    path: '/talk',
    menu: { name: 'talk', group: 'build', icon: Mic },
    scope: 'calls:talk',
    view: loaded(() => import('./talk/talk-page.tsx'), 'TalkPage'),
  },
  {
    path: '/costs',
    menu: { name: 'costs', group: 'manage', icon: Coins },
    scope: 'calls:read',
    view: loaded(() => import('./costs/costs-page.tsx'), 'CostsPage'),
  },
  {
    path: '/system',
    menu: { name: 'system', group: 'manage', icon: Activity, badge: SystemBadge },
    scope: 'system:read',
    view: loaded(() => import('./system/system-page.tsx'), 'SystemPage'),
  },
  {
    path: '/audit',
    menu: { name: 'audit', group: 'manage', icon: ScrollText },
    scope: 'audit:read',
    view: loaded(() => import('./audit/audit-page.tsx'), 'AuditPage'),
  },
  {
    path: '/settings',
    menu: { name: 'settings', group: 'manage', icon: Settings },
    scope: 'settings:read',
    view: loaded(() => import('./settings/settings-page.tsx'), 'SettingsPage'),
  },
  { path: '/settings/:part', scope: 'settings:read', view: loaded(() => import('./settings/settings-page.tsx'), 'SettingsPage') },
];
