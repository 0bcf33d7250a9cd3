/** Starts the page, and keeps it for use without a network. */
import { createApp } from 'vue';
import { App } from './app.tsx';

// The choice that the documentation stores.
const appearance = localStorage.getItem('vitepress-theme-appearance');
if (appearance === 'dark' || appearance === 'light') document.documentElement.style.colorScheme = appearance;
createApp(App).mount('#app');
const worker = '/inspect/worker.js';
interface TrustedTypes {
  createPolicy(name: string, rules: object): { createScriptURL(url: string): string };
}
const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
const policy = trustedTypes?.createPolicy('worker', { createScriptURL: () => worker });
// Pages without https have no service workers.
navigator.serviceWorker?.register(policy?.createScriptURL(worker) ?? worker);
