import { ActionIcon, AppShell, Box, Burger, Group, Menu, NavLink, Text, useMantineColorScheme } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, Suspense, use } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import icon from './icon.svg';
import { PAGES } from './pages/pages.ts';
import { Empty, Loading, PageBoundary } from './parts/states.tsx';
import { useSession } from './session.tsx';
import { LANGUAGES, LanguageContext, type Language, useWords, words } from './words.ts';

const shellWords = words(
  {
    live: 'Live',
    calls: 'Calls',
    campaigns: 'Campaigns',
    bots: 'Bots',
    talk: 'Talk',
    system: 'System',
    audit: 'Audit',
    settings: 'Settings',
    skip: 'Skip to the content',
    menu: 'Menu',
    navigation: 'Pages',
    theme: 'Light or dark',
    language: 'Language',
    nothing: 'There is no such page',
    nothingHint: 'Or your role does not have it. The pages that you have are in the menu.',
  },
  {
    live: 'लाइव',
    calls: 'कॉल',
    campaigns: 'अभियान',
    bots: 'बॉट',
    talk: 'बात करें',
    system: 'सिस्टम',
    audit: 'ऑडिट',
    settings: 'सेटिंग',
    skip: 'सामग्री पर जाएँ',
    menu: 'मेन्यू',
    navigation: 'पृष्ठ',
    theme: 'हल्का या गहरा',
    language: 'भाषा',
    nothing: 'ऐसा कोई पृष्ठ नहीं है',
    nothingHint: 'या आपकी भूमिका में यह नहीं है। आपके पृष्ठ मेन्यू में हैं।',
  },
);

/** The frame around every page: menu, language, theme, account. */
export function Shell({ account }: { readonly account?: ReactNode }): ReactNode {
  const w = useWords(shellWords);
  const { scopes } = useSession();
  const [opened, { toggle, close }] = useDisclosure();
  const [path] = useLocation();
  const pages = PAGES.filter(({ scope }) => scopes.includes(scope));
  const first = pages.find(({ menu }) => menu !== undefined);
  return (
    <AppShell header={{ height: 52 }} navbar={{ width: 176, breakpoint: 'sm', collapsed: { mobile: !opened } }} padding="md">
      <a href="#content" className="skip">
        {w.skip}
      </a>
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={w.menu} />
            <img src={icon} alt="" width={24} height={24} />
            <Text fw={600}>Offhook</Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <LanguageMenu />
            <ThemeButton />
            {account}
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={w.navigation}>
        {pages.map(({ path: to, menu }) =>
          menu === undefined ? null : (
            <NavLink
              key={to}
              component={Link}
              href={to}
              label={w[menu]}
              active={path === to || path.startsWith(`${to}/`)}
              aria-current={path === to ? 'page' : undefined}
              onClick={close}
            />
          ),
        )}
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <PageBoundary key={path.split('/')[1]}>
          <Suspense fallback={<Loading />}>
            <Switch>
              {pages.map(({ path: at, view: View }) => (
                <Route key={at} path={at}>
                  <View />
                </Route>
              ))}
              {first === undefined ? null : (
                <Route path="/">
                  <Redirect to={first.path} replace />
                </Route>
              )}
              <Route>
                <Empty title={w.nothing}>{w.nothingHint}</Empty>
              </Route>
            </Switch>
          </Suspense>
        </PageBoundary>
      </AppShell.Main>
    </AppShell>
  );
}

export function LanguageMenu(): ReactNode {
  const w = useWords(shellWords);
  const { language, choose } = use(LanguageContext);
  const short = language === 'hi' ? 'हि' : 'En';
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`${w.language}: ${short}`}>
          <Box component="span" fz="sm" c="var(--mantine-color-text)">
            {short}
          </Box>
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <Menu.Item key={code} lang={code} onClick={() => choose(code as Language)}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

export function ThemeButton(): ReactNode {
  const w = useWords(shellWords);
  const { toggleColorScheme } = useMantineColorScheme();
  return (
    <ActionIcon variant="subtle" color="gray" size="lg" aria-label={w.theme} onClick={toggleColorScheme}>
      <Box component="span" aria-hidden c="var(--mantine-color-text)">
        ◐
      </Box>
    </ActionIcon>
  );
}
