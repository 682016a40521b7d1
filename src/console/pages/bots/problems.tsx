import { Alert, Badge, Box, Code, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { BotProblemView, BotView } from '../../../http/api/bots/bot-views.ts';
import { useFormat } from '../../parts/format.ts';
import { say, useWords } from '../../words.ts';
import classes from './bots.module.css';
import { botsWords } from './words.ts';

/** Problems of files in place: where, what is accepted, and the lines around it. */
export function Problems({
  title,
  problems,
}: {
  readonly title: string;
  readonly problems: readonly BotProblemView[];
}): ReactNode {
  const w = useWords(botsWords);
  if (problems.length === 0) return null;
  const isBroken = problems.some(({ severity }) => severity === 'error');
  return (
    <Alert color={isBroken ? 'red' : 'yellow'} variant="light" title={title} mb="md">
      <Stack gap="md">
        {isBroken ? <Text size="sm">{w.problemsHint}</Text> : null}
        {problems.map((problem) => (
          <Problem key={`${problem.file}:${problem.line}:${problem.key}:${problem.message}`} problem={problem} />
        ))}
      </Stack>
    </Alert>
  );
}

function Problem({ problem }: { readonly problem: BotProblemView }): ReactNode {
  const w = useWords(botsWords);
  const { file, line, column, key, value, message, nearest, excerpt } = problem;
  return (
    <Box>
      <Group gap="xs" mb={4}>
        {file === null ? null : <Code>{line === null ? file : `${file}:${line}`}</Code>}
        <Text size="sm" fw={600} className={classes['wrap']}>
          {key}
        </Text>
        {line === null ? null : (
          <Text size="xs" c="dimmed">
            {say(w.line, { line, column: column ?? 1 })}
          </Text>
        )}
      </Group>
      <Text size="sm" className={classes['wrap']}>
        {message}
        {value === null ? '' : ` (${say(w.found, { value })})`} {nearest === null ? '' : say(w.nearest, { name: nearest })}
      </Text>
      {excerpt.length === 0 ? null : (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- long lines scroll, also by keyboard
        <pre className={classes['excerpt']} tabIndex={0} aria-label={`${file ?? ''}:${line ?? ''}`}>
          {excerpt.map(({ line: number, text }) => (
            <span key={number} className={`${classes['source']} ${number === line ? classes['wrong'] : ''}`}>
              {String(number).padStart(4)} {number === line ? '›' : ' '} {text}
            </span>
          ))}
        </pre>
      )}
    </Box>
  );
}

/** A reload that was refused; calls kept the bots they had. */
export function RefusedReload({ reload }: { readonly reload: BotView['lastReload'] }): ReactNode {
  const w = useWords(botsWords);
  const format = useFormat();
  if (reload === null || reload.problems.length === 0) return null;
  const at = format.time(reload.at);
  return (
    <Alert color="red" variant="light" title={say(w.reloadFailed, { at })} mb="md">
      <Stack gap={4}>
        {reload.problems.map((problem) => (
          <Text key={problem} size="sm" className={classes['wrap']}>
            {problem}
          </Text>
        ))}
      </Stack>
    </Alert>
  );
}

/** How the files of a bot stand, in a word. */
export function Health({ bot }: { readonly bot: Pick<BotView, 'problems' | 'newVersion'> }): ReactNode {
  const w = useWords(botsWords);
  const errors = bot.problems.filter(({ severity }) => severity === 'error').length;
  const warnings = bot.problems.length - errors;
  if (errors > 0)
    return (
      <Badge color="red" variant="light" autoContrast>
        ✕ {say(w.problemCount, { count: errors })}
      </Badge>
    );
  if (bot.newVersion !== null) return <Text size="sm">↻ {say(w.changed, { version: bot.newVersion })}</Text>;
  return warnings > 0 ? <Text size="sm">⚠ {say(w.warningCount, { count: warnings })}</Text> : <Text size="sm">✓ {w.sound}</Text>;
}
