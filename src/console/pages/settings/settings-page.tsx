import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { useLocation, useParams } from 'wouter';
import type { ApiScope } from '../../../http/api/system/api-keys.ts';
import { Page } from '../../parts/states.tsx';
import { useSession } from '../../session.tsx';
import { useWords } from '../../words.ts';
import { Alerts } from './alerts.tsx';
import { Carriers } from './carriers.tsx';
import { Keys } from './keys.tsx';
import { Members } from './members.tsx';
import { Models } from './models.tsx';
import { Speech } from './speech.tsx';
import { Webhooks } from './webhooks.tsx';
import { settingsWords } from './words.ts';

const PARTS = [
  { name: 'keys', scope: 'keys:write', view: Keys },
  { name: 'webhooks', scope: 'settings:read', view: Webhooks },
  { name: 'members', scope: 'settings:read', view: Members },
  { name: 'carriers', scope: 'settings:read', view: Carriers },
  { name: 'speech', scope: 'settings:read', view: Speech },
  { name: 'models', scope: 'settings:read', view: Models },
  { name: 'alerts', scope: 'system:read', view: Alerts },
] as const satisfies readonly { name: string; scope: ApiScope; view: () => ReactNode }[];

/** The gateway's settings that people change or look up: each part has an address of its own. */
export function SettingsPage(): ReactNode {
  const w = useWords(settingsWords);
  const { scopes } = useSession();
  const { part } = useParams<{ part?: string }>();
  const [, go] = useLocation();
  const parts = PARTS.filter(({ scope }) => scopes.includes(scope));
  const chosen = parts.find(({ name }) => name === part) ?? parts[0];
  return (
    <Page title={w.title}>
      <Tabs value={chosen?.name ?? null} onChange={(next) => next !== null && go(`/settings/${next}`)} keepMounted={false}>
        <Tabs.List mb="md" aria-label={w.parts}>
          {parts.map(({ name }) => (
            <Tabs.Tab key={name} value={name}>
              {w[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {parts.map(({ name, view: View }) => (
          <Tabs.Panel key={name} value={name}>
            <View />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}
