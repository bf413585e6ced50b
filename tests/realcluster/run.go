package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"cronjob-monitor.io/realcluster/kubelet"
)

// The line on standard output that tells a test where everything is.
type readyLine struct {
	URL        string         `json:"url"`
	Kubeconfig string         `json:"kubeconfig"`
	CAFile     string         `json:"caFile"`
	Token      string         `json:"token"`
	Control    string         `json:"control"`
	Dir        string         `json:"dir"`
	Pids       map[string]int `json:"pids"`
}

// run starts a cluster and keeps it until standard input ends, a signal comes, or a request to /stop.
func run(arguments []string) error {
	s, err := readSettings(arguments)
	if err != nil {
		return err
	}
	// Who reads our output may be gone before we have cleaned up.
	signal.Ignore(syscall.SIGPIPE)
	ctx, end := context.WithCancel(context.Background())
	defer end()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		end()
	}()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		end()
	}()

	c, err := startCluster(ctx, s)
	if err != nil {
		return err // the folder stays, with the output of what did not start
	}
	defer func() {
		c.stop()
		if !s.keep {
			_ = os.RemoveAll(s.dir)
		}
	}()
	control, err := c.serveControl(ctx, end)
	if err != nil {
		return err
	}
	ready, err := json.Marshal(readyLine{
		URL: c.url(), Kubeconfig: c.file("kubeconfig"), CAFile: c.file("ca.crt"), Token: c.token,
		Control: control, Dir: c.dir, Pids: c.pids(),
	})
	if err != nil {
		return err
	}
	fmt.Println(string(ready))
	<-ctx.Done()
	return nil
}

func (c *cluster) pids() map[string]int {
	return map[string]int{"supervisor": os.Getpid(), "kubeApiserver": c.apiServer.pid(), "kubeControllerManager": c.controllers.pid()}
}

// serveControl opens the loopback port through which tests disturb the cluster. Requests carry the administrator's token.
func (c *cluster) serveControl(ctx context.Context, end context.CancelFunc) (string, error) {
	actions := map[string]func(context.Context, bool) error{
		"/apiserver/start":    func(ctx context.Context, _ bool) error { return c.startAPIServer(ctx) },
		"/apiserver/stop":     func(_ context.Context, kill bool) error { return c.apiServer.stop(kill) },
		"/controllers/start":  func(ctx context.Context, _ bool) error { return c.startControllers(ctx) },
		"/controllers/stop":   func(_ context.Context, kill bool) error { return c.controllers.stop(kill) },
		"/apiserver/pause":    func(context.Context, bool) error { return c.apiServer.signal(syscall.SIGSTOP) },
		"/apiserver/resume":   func(context.Context, bool) error { return c.apiServer.signal(syscall.SIGCONT) },
		"/controllers/pause":  func(context.Context, bool) error { return c.controllers.signal(syscall.SIGSTOP) },
		"/controllers/resume": func(context.Context, bool) error { return c.controllers.signal(syscall.SIGCONT) },
		"/pids":               func(context.Context, bool) error { return nil },
		"/stop":               func(context.Context, bool) error { end(); return nil },
	}
	answer := func(w http.ResponseWriter, body map[string]any, err error) {
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			body = map[string]any{"error": err.Error()}
		}
		_ = json.NewEncoder(w).Encode(body)
	}
	routes := http.NewServeMux()
	for path, action := range actions {
		routes.HandleFunc("POST "+path, func(w http.ResponseWriter, request *http.Request) {
			bounded, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			err := action(bounded, request.URL.Query().Get("kill") == "true")
			answer(w, map[string]any{"pids": c.pids()}, err)
		})
	}
	routes.HandleFunc("POST /etcd/compact", func(w http.ResponseWriter, request *http.Request) {
		revision, err := compact(request.Context(), c.etcd)
		answer(w, map[string]any{"revision": revision}, err)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.Header.Get("Authorization") != "Bearer "+c.token {
			http.Error(w, "the administrator's token is needed", http.StatusUnauthorized)
			return
		}
		routes.ServeHTTP(w, request)
	})}
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String(), nil
}

// playPodsOf plays the pods of a cluster that has no machines of its own, until standard input ends or a signal comes.
func playPodsOf(arguments []string) error {
	flags := flag.NewFlagSet("kubelet", flag.ContinueOnError)
	file := flags.String("kubeconfig", "", "the cluster")
	nodes := flags.String("nodes", "node-1,node-2,node-3", "names of the nodes to register")
	backOff := flags.Duration("restart-backoff", time.Second, "wait before a container is restarted the second time")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if *file == "" {
		return errors.New("-kubeconfig is needed")
	}
	config, err := clientcmd.BuildConfigFromFlags("", *file)
	if err != nil {
		return err
	}
	ctx, end := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer end()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		end()
	}()
	played, err := kubelet.New(config, kubelet.Options{Nodes: strings.Split(*nodes, ","), RestartBackOff: *backOff})
	if err != nil {
		return err
	}
	if err := played.Start(ctx); err != nil {
		return err
	}
	fmt.Println(`{"ready":true}`)
	<-ctx.Done()
	return nil
}
