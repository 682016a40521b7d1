import { Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { z } from 'zod';
import type { SystemProblem, systemView } from '../../../http/api/system/system-views.ts';
import { get } from '../../api.ts';
import { Failure } from '../../parts/states.tsx';
import { say, useLanguage, useWords } from '../../words.ts';
import classes from './system.module.css';
import { problemsInHindi, systemWords } from './words.ts';

/** What is wrong with the gateway now, for a page beside the System page. @param well said where nothing is */
export function Problems({ well }: { readonly well: string }): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['system'],
    queryFn: ({ signal }) => get<z.output<typeof systemView>>('/system', signal),
    refetchInterval: 30_000,
  });
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Skeleton height={20} />;
  if (data.problems.length === 0)
    return (
      <Text size="sm" c="dimmed">
        ✓ {well}
      </Text>
    );
  return (
    <ul className={classes.list}>
      {data.problems.map((each, at) => (
        // Two problems may have one code and differ in their facts alone.
        <Problem key={`${each.code}-${at}`} problem={each} />
      ))}
    </ul>
  );
}

export function Problem({ problem: { code, severity, what, remedy, facts } }: { readonly problem: SystemProblem }): ReactNode {
  const w = useWords(systemWords);
  const [whatHere, remedyHere] = useLanguage() === 'hi' ? problemsInHindi[code].map((text) => say(text, facts)) : [what, remedy];
  return (
    <li className={severity === 'error' ? `${classes.problem} ${classes.error}` : classes.problem}>
      <Text size="sm" fw={600}>
        {severity === 'error' ? `⛔ ${w.error}` : `⚠ ${w.warning}`}: {whatHere}
      </Text>
      <Text size="sm" c="dimmed">
        {withCode(remedyHere ?? '')}
      </Text>
    </li>
  );
}

/** What stands between backticks is code. */
function withCode(text: string): ReactNode[] {
  return text.split('`').map((part, at) => (at % 2 === 0 ? part : <code key={part}>{part}</code>));
}
