// VitePress's own theme, with the fonts of the system and an own page for missing addresses.
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import NotFound from './NotFound.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': () => h(NotFound) }),
};
