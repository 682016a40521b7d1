import {
  Alert,
  Button,
  Center,
  Code,
  Divider,
  Group,
  Paper,
  PasswordInput,
  Stack,
  Text,
  Title,
  VisuallyHidden,
} from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import type { Session } from '../../../http/session/session-views.ts';
import type { OpenIdProblem } from '../../../http/session/openid.ts';
import { post, Refused } from '../../api.ts';
import icon from '../../icon.svg';
import { openSession } from '../../session.tsx';
import { LanguageMenu, ThemeButton } from '../../shell.tsx';
import { say, useWords } from '../../words.ts';
import { signInWords } from './words.ts';

/** Every way to sign in that there is here, and how to get one. @param problem why a link did not sign in, or the name of what the issuer was refused for */
export function SignIn({
  session,
  problem,
}: {
  readonly session: Session;
  readonly problem: Error | string | undefined;
}): ReactNode {
  const w = useWords(signInWords);
  const { ways } = session;
  useEffect(() => {
    document.title = `${w.title} · Offhook`;
  }, [w.title]);
  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper withBorder p="xl" w="100%" maw={420}>
        <Stack gap="lg">
          <Group justify="space-between">
            <Group gap="sm">
              <img src={icon} alt="" width={28} height={28} />
              <Title order={1} size="h3">
                Offhook
              </Title>
            </Group>
            <Group gap={4}>
              <LanguageMenu />
              <ThemeButton />
            </Group>
          </Group>
          {problem === undefined ? null : <Refusal error={problem} />}
          {ways.includes('openid') ? (
            <Button component="a" href="/api/session/openid" variant={ways.includes('password') ? 'default' : 'filled'}>
              {w.openid}
            </Button>
          ) : null}
          {ways.includes('openid') && ways.includes('password') ? <Divider label={w.or} /> : null}
          {ways.includes('password') ? <PasswordForm /> : null}
          {ways.length > 1 ? <Divider label={w.or} /> : null}
          <Stack gap="xs">
            <Title order={2} size="h5">
              {w.linkTitle}
            </Title>
            <Text size="sm">{w.link}</Text>
            <Code block>npx offhook console</Code>
            <Text size="sm" c="dimmed">
              {w.linkOthers}
            </Text>
            <Code block>npx offhook console --role viewer --name asha</Code>
            {ways.includes('password') || ways.includes('openid') ? null : (
              <Text size="sm" c="dimmed">
                {say(w.noPassword, { name: 'OFFHOOK_ADMIN_PASSWORD' })}
              </Text>
            )}
          </Stack>
        </Stack>
      </Paper>
    </Center>
  );
}

function PasswordForm(): ReactNode {
  const w = useWords(signInWords);
  const client = useQueryClient();
  const [password, setPassword] = useState('');
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => post<Session>('/session', { password }),
    onSuccess: (session) => openSession(client, session),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {/* Password managers keep passwords with a name. */}
        <VisuallyHidden>
          <input type="text" autoComplete="username" value="admin" readOnly tabIndex={-1} aria-hidden />
        </VisuallyHidden>
        <PasswordInput
          label={w.password}
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={error === null ? undefined : <span role="alert">{textOf(error, w.unreachable)}</span>}
          required
          withAsterisk={false}
        />
        <Button type="submit" loading={isPending}>
          {w.submit}
        </Button>
      </Stack>
    </form>
  );
}

function Refusal({ error }: { readonly error: Error | string }): ReactNode {
  const w = useWords(signInWords);
  return (
    <Alert
      color={error === 'expired' ? 'yellow' : 'red'}
      variant="light"
      role="alert"
      title={error === 'expired' ? w.expiredTitle : w.failed}
    >
      {typeof error === 'string' ? (ISSUER_TEXTS[error]?.(w) ?? w.refused) : textOf(error, w.unreachable)}
    </Alert>
  );
}

type Texts = ReturnType<typeof useWords<keyof (typeof signInWords)['en']>>;
const ISSUER_TEXTS: Readonly<Record<string, (w: Texts) => string>> = {
  unavailable: (w) => w.unavailable,
  'no-role': (w) => w.noRole,
  expired: (w) => w.expired,
} satisfies Partial<Record<OpenIdProblem | 'expired', (w: Texts) => string>>;

function textOf(error: Error, unreachable: string): string {
  return error instanceof Refused ? error.message : unreachable;
}
