import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { loadAlerts } from '../../../src/config/alerts.ts';
import { problemText } from '../../../src/config/problem.ts';
import { temporaryFolder } from '../../support/databases.ts';

const ENV = { HOOK: 'a secret', PASSWORD: 'another', SLACK: 'https://hooks.slack.com/services/T/B/x' };
const SOUND = `channels:
  - { kind: webhook, name: ops, url: 'https://ops.example.com/alerts', secretEnv: HOOK }
  - { kind: mail, name: desk, host: smtp.example.com, user: bot, passwordEnv: PASSWORD, from: bot@example.com, to: [desk@example.com] }
  - { kind: slack, name: slack, urlEnv: SLACK }
rules:
  - { name: slow, figure: reply-p95-ms, above: 2500, channels: [slack] }
  - { name: silent, figure: calls, below: 1 }
`;

async function load(text: string) {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'alerts.yaml');
  writeFileSync(path, text);
  const { alerts, problems } = loadAlerts(path, ENV);
  return { alerts, problems: problems.map((problem) => problemText(problem).replace(path, 'alerts.yaml')) };
}

it('reads channels with their secrets, and rules', async () => {
  const { alerts, problems } = await load(SOUND);
  expect(problems).toEqual([]);
  expect(alerts.channels.map(({ name }) => name)).toEqual(['ops', 'desk', 'slack']);
  expect(JSON.stringify(alerts)).not.toMatch(/a secret|another|services/u);
  expect(alerts.rules[0]).toMatchObject({ name: 'slow', windowMinutes: 15, coolDownMinutes: 60, resolved: true });
});

test.each([
  ['an unknown figure', SOUND.replace('reply-p95-ms', 'reply-p99-ms'), /^rules\.0\.figure \(alerts\.yaml:6\)/u],
  [
    'a channel that is missing',
    SOUND.replace('[slack]', '[pager]'),
    /^rules\.0\.channels \(alerts\.yaml:6\): there is no channel pager/u,
  ],
  [
    'a rule with both thresholds',
    SOUND.replace('below: 1', 'below: 1, above: 2'),
    /^rules\.1 \(alerts\.yaml:7\): needs either above or below/u,
  ],
  [
    'an unset secret',
    SOUND.replace('secretEnv: HOOK', 'secretEnv: NONE'),
    /^channels\.0\.secretEnv \(alerts\.yaml:2\): neither NONE nor NONE_FILE/u,
  ],
  ['plain http', SOUND.replace('https://ops', 'http://ops'), /^channels\.0\.url \(alerts\.yaml:2\): only https/u],
  [
    'a password without TLS',
    SOUND.replace('user: bot', 'security: none, user: bot'),
    /^channels\.1\.security .*only sent over TLS/u,
  ],
  ['a repeated name', SOUND.replace('name: desk', 'name: ops'), /^channels\.1\.name \(alerts\.yaml:3\): ops stands twice/u],
])('names the line of %s', async (_note, text, says) => {
  const { alerts, problems } = await load(text);
  expect(problems[0]).toMatch(says);
  expect(alerts.channels).toEqual([]);
});
