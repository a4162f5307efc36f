<?php
/*
Plugin Name: firstpick agent collector
Description: Tells firstpick which AI agents read this site. Views by people are not sent, unless an agent's link or an assistant brought them.

Guide: https://firstpick.example/setup.md. Does nothing without a key: the environment variable FIRSTPICK_KEY, or a constant of that name.
*/

final class AgentCollect
{
    private const ASSET = '~\.(css|js|mjs|cjs|map|wasm|webmanifest|png|jpe?g|gif|svg|webp|avif|ico|bmp|tiff?|heic|woff2?|ttf|otf|eot|mp3|mp4|m4a|m4v|webm|og[gav]|wav|mov|avi|m3u8|ts|zip|gz|tgz|bz2|xz|br|7z|rar|tar|dmg|exe|msi|deb|rpm|pkg|iso)$~i';
    private const BUILD = '~^\/(_next|_vercel|cdn-cgi|_nuxt|_app)\/~';
    private const KEEP = '~^\/\.well-known\/|\/openapi\.[^\/]*$~i';
    private const HEALTH = '~^(kube-probe|elb-healthchecker|googlehc|consul)~i';
    private const BROWSER = '~^(mozilla|opera)\/~i';
    private const MARK = '~[^u]bot|crawl|spider|slurp|scrap|fetch|agent|-user|preview|https?:|compatible; (?!msie|konq)|headless|cursor\/|windsurf\/|trae\/|chatgpt\/|genspark|\) code(-insiders)?\/1|devin|novaact|anchor ~i';
    private const ASSISTANT = '~^https?:\/\/(www\.)?(chatgpt\.com|(chat|labs)\.openai\.com|claude\.ai|perplexity\.ai|(gemini|bard|notebooklm|aistudio)\.google\.com|copilot\.(microsoft\.)?com|grok\.com|x\.com\/i\/grok|(l\.)?meta\.ai|(chat|lechat)\.mistral\.ai|chat\.deepseek\.com|chat\.qwen\.ai|tongyi\.aliyun\.com|kimi\.(com|ai|moonshot\.cn)|doubao\.com|(ai|yiyan)\.baidu\.com|chatglm\.cn|you\.com|duck\.ai|phind\.com|poe\.com|assistant\.kagi\.com|kagi\.com\/assistant|search\.brave\.com\/ask|(iask|character|app\.jasper)\.ai|app\.writesonic\.com|manus\.im|andisearch\.com|liner\.com|chat-gpt\.org|chatplus\.com)([\/:?#]|$)~i';
    private const TAGS = ['via' => 1, 'vt' => 1, 'utm_source' => 1, 'utm_medium' => 1, 'utm_campaign' => 1, 'ref' => 1];

    /** Reports this request, if it may be an agent's. Call it after the answer: it may take seconds. */
    public static function touch(int $status, string $source = 'php', ?string $visitor = null): void
    {
        try {
            $event = self::event($status, $source, $visitor);
            if ($event !== null) {
                self::send($event);
            }
        } catch (\Throwable $e) {
            // a report must never break a page
        }
    }

    /** @return array<string, mixed>|null the touch, or null for what is not reported */
    private static function event(int $status, string $source, ?string $visitor): ?array
    {
        $h = static fn(string $name): ?string => $_SERVER['HTTP_' . $name] ?? null;
        [$path, $query] = explode('?', $_SERVER['REQUEST_URI'] ?? '', 2) + ['', ''];
        $method = $_SERVER['REQUEST_METHOD'] ?? '';
        $ua = (string) $h('USER_AGENT');
        $asset = (preg_match(self::ASSET, $path) || preg_match(self::BUILD, $path)) && !preg_match(self::KEEP, $path);
        if (self::setting('FIRSTPICK_KEY') === '' || !in_array($method, ['GET', 'HEAD'], true) || $asset || preg_match(self::HEALTH, $ua)) {
            return null;
        }
        parse_str($query, $all);
        $tags = array_filter(array_intersect_key($all, self::TAGS), 'is_string');
        $referrer = preg_split('~[?#]~', (string) $h('REFERER'))[0];
        $agent = !preg_match(self::BROWSER, $ua) || preg_match(self::MARK, $ua) || $h('SIGNATURE_AGENT') || stripos((string) $h('ACCEPT'), 'markdown') !== false;
        $all = self::setting('FIRSTPICK_SEND_ALL') !== '';
        if (!$agent && !$all && !isset($tags['via']) && !isset($tags['vt']) && !isset($tags['utm_source']) && !preg_match(self::ASSISTANT, $referrer)) {
            return null;
        }
        $id = bin2hex(random_bytes(16));
        return array_filter([
            'type' => 'touch', 'id' => $id, 'ts' => gmdate('Y-m-d\TH:i:s\Z'), 'host' => $h('HOST'), 'method' => $method, 'status' => $status ?: null,
            'path' => $path . ($tags ? '?' . http_build_query($tags) : ''), 'visitorToken' => $visitor,
            'signals' => array_filter([
                'source' => $source, 'userAgent' => $ua, 'referrer' => $referrer, 'accept' => $h('ACCEPT'), 'ip' => $agent || $all ? self::clientIP($h) : null,
                'signature' => $h('SIGNATURE'), 'signatureInput' => $h('SIGNATURE_INPUT'), 'signatureAgent' => $h('SIGNATURE_AGENT'),
            ]),
        ], static fn($value) => $value !== null);
    }

    /** Believes X-Forwarded-For as far as your own proxies wrote it: FIRSTPICK_TRUSTED_PROXIES=1, or FIRSTPICK_IP_HEADER=cf-connecting-ip. */
    private static function clientIP(callable $h): ?string
    {
        $header = self::setting('FIRSTPICK_IP_HEADER');
        if ($header !== '') {
            return $h(strtoupper(strtr($header, '-', '_')));
        }
        $hops = array_values(array_filter(array_map('trim', explode(',', (string) $h('X_FORWARDED_FOR')))));
        $proxies = (int) self::setting('FIRSTPICK_TRUSTED_PROXIES');
        if ($proxies > 0) {
            return $hops[count($hops) - $proxies] ?? null;
        }
        return $hops || $h('FORWARDED') || $h('VIA') ? null : ($_SERVER['REMOTE_ADDR'] ?? null);
    }

    /** Sends one event, and once more with the same id if that failed. A worker waits for 2 seconds at most; after a failure none does for a minute. */
    private static function send(array $event): void
    {
        $down = sys_get_temp_dir() . '/firstpick-down-' . md5(self::setting('FIRSTPICK_KEY'));
        if (is_file($down) && time() - filemtime($down) < 60) {
            return;
        }
        $base = rtrim(self::setting('FIRSTPICK_URL') ?: 'https://firstpick.example', '/');
        $body = json_encode(['sentAt' => gmdate('Y-m-d\TH:i:s\Z'), 'events' => [$event]], JSON_INVALID_UTF8_SUBSTITUTE);
        for ($try = 0; $try < 2; $try++) {
            $options = ['method' => 'POST', 'timeout' => 1, 'ignore_errors' => true, 'follow_location' => 0, 'content' => $body,
                'header' => "Content-Type: application/json\r\nConnection: close\r\nAuthorization: Bearer " . self::setting('FIRSTPICK_KEY')];
            $answer = @fopen($base . '/api/collect', 'r', false, stream_context_create(['http' => $options]));
            $code = $answer ? (int) (explode(' ', stream_get_meta_data($answer)['wrapper_data'][0])[1] ?? 0) : 599;
            if ($code < 500 && $code !== 429) {
                return;
            }
        }
        touch($down);
    }

    private static function setting(string $name): string
    {
        return (string) (getenv($name) ?: (defined($name) ? constant($name) : ''));
    }

    /** Reports every request of this process at its end. For plain PHP and WordPress; frameworks call touch themselves. */
    public static function register(string $source = 'php'): void
    {
        register_shutdown_function(static function () use ($source): void {
            foreach (['fastcgi_finish_request', 'litespeed_finish_request'] as $finish) {
                if (function_exists($finish)) {
                    $finish(); // the visitor has the whole answer now
                }
            }
            self::touch((int) http_response_code(), $source);
        });
    }
}

if (PHP_SAPI !== 'cli' && !defined('FIRSTPICK_MANUAL')) {
    AgentCollect::register(defined('ABSPATH') ? 'wordpress' : 'php');
}
