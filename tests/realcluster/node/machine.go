package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// kernelSettings are what a kubelet changes for the whole computer. A machine has files in their place, which nothing else reads.
var kernelSettings = []string{
	"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
}

// privateFolders are where containerd, kubelet and the network plugins write at places that no setting moves.
var privateFolders = []string{"/run", "/var/lib", "/var/log"}

// machineSettings say which machine it is. The configuration of each program lies in the folder, written by who starts the machine.
type machineSettings struct {
	dir       string
	name      string
	address   string
	gateway   string
	labels    string
	schedules bool
	images    []string
	policies  string
}

func readMachineSettings(arguments []string) (machineSettings, error) {
	var s machineSettings
	var images string
	flags := flag.NewFlagSet("machine", flag.ContinueOnError)
	flags.StringVar(&s.dir, "dir", "", "folder with containerd.toml, kubelet.yaml, kube-proxy.yaml, cni/ and the kubeconfigs")
	flags.StringVar(&s.name, "name", "", "name of the node")
	flags.StringVar(&s.address, "address", "", "address of the machine with its prefix length, such as 10.90.0.2/30")
	flags.StringVar(&s.gateway, "gateway", "", "address of the computer on the same link")
	flags.StringVar(&s.labels, "labels", "", "labels of the node")
	flags.BoolVar(&s.schedules, "schedules", false, "run kube-scheduler here")
	flags.StringVar(&s.policies, "policies", "", "program that enforces NetworkPolicies; without it none is enforced")
	flags.StringVar(&images, "images", "", "archives of images to load, separated by commas")
	if err := flags.Parse(arguments); err != nil {
		return s, err
	}
	if s.dir == "" || s.name == "" || s.address == "" || s.gateway == "" {
		return s, errors.New("-dir, -name, -address and -gateway are needed")
	}
	if images != "" {
		s.images = strings.Split(images, ",")
	}
	return s, nil
}

// runMachine is the first process of a machine. Its network, mount, process, host name and IPC namespaces are its own, and end with it: every
// process, mount, bridge and chain of the machine goes then. It prints `ready` once containerd has its images and every program runs; it ends
// when standard input does, at a signal, or when a program ends by itself.
func runMachine(arguments []string) error {
	s, err := readMachineSettings(arguments)
	if err != nil {
		return err
	}
	if os.Getpid() != 1 {
		return errors.New("a machine has to be the first process of a process namespace: unshare --pid --fork --mount-proc")
	}
	ended := make(chan error, 8)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		ended <- nil
	}()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		ended <- nil
	}()
	if err := makePrivate(s.dir); err != nil {
		return err
	}
	if err := joinNetwork(s); err != nil {
		return err
	}
	go func() {
		if err := startPrograms(s, ended); err != nil {
			ended <- err
			return
		}
		fmt.Println("ready")
	}()
	return <-ended
}

// makePrivate gives the machine folders and kernel settings of its own, and lets mounts of containers reach the kubelet's folder and back.
func makePrivate(dir string) error {
	for _, folder := range privateFolders {
		if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "mode=755"); err != nil {
			return fmt.Errorf("a file system of its own on %s: %w", folder, err)
		}
	}
	settings := filepath.Join(dir, "kernel")
	if err := os.MkdirAll(settings, 0o700); err != nil {
		return err
	}
	for _, name := range kernelSettings {
		at := filepath.Join("/proc/sys", name)
		value, err := os.ReadFile(at)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		file := filepath.Join(settings, strings.ReplaceAll(name, "/", "."))
		if err := os.WriteFile(file, value, 0o600); err != nil {
			return err
		}
		if err := syscall.Mount(file, at, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("a setting of its own for %s: %w", at, err)
		}
	}
	pods := filepath.Join(dir, "kubelet")
	if err := os.MkdirAll(pods, 0o700); err != nil {
		return err
	}
	if err := syscall.Mount(pods, pods, "", syscall.MS_BIND, ""); err != nil {
		return err
	}
	return syscall.Mount("", pods, "", syscall.MS_SHARED|syscall.MS_REC, "")
}

// joinNetwork waits for the link that the computer moves into this namespace, and brings it up.
func joinNetwork(s machineSettings) error {
	deadline := time.Now().Add(20 * time.Second)
	for {
		if _, err := net.InterfaceByName("eth0"); err == nil {
			break
		}
		if time.Now().After(deadline) {
			return errors.New("no interface eth0 came into the network namespace")
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, words := range []string{
		"link set lo up", "address add " + s.address + " dev eth0", "link set eth0 up", "route add default via " + s.gateway,
	} {
		if err := command("ip", strings.Fields(words)...); err != nil {
			return err
		}
	}
	// A setting of this network namespace alone.
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o600)
}

// startPrograms starts containerd, loads the images, and starts the rest. A program that ends by itself is told to `ended`.
func startPrograms(s machineSettings, ended chan<- error) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	file := func(name string) string { return filepath.Join(s.dir, name) }
	address := strings.Split(s.address, "/")[0]
	if err := s.start(ended, "containerd", "containerd", "--config", file("containerd.toml")); err != nil {
		return err
	}
	if err := untilContainerd(); err != nil {
		return err
	}
	for _, image := range s.images {
		if err := command("ctr", "--namespace", "k8s.io", "images", "import", image); err != nil {
			return err
		}
	}
	programs := [][]string{
		{"names", "-kubeconfig", file("names.kubeconfig"), "-listen", address + ":53"},
		{"kube-proxy", "--config", file("kube-proxy.yaml"), "--hostname-override", s.name},
		{
			"kubelet", "--config", file("kubelet.yaml"), "--kubeconfig", file("kubelet.kubeconfig"), "--root-dir", file("kubelet"),
			"--hostname-override", s.name, "--node-ip", address, "--node-labels", s.labels,
		},
	}
	if s.policies != "" {
		if err := s.start(ended, "policies", s.policies, "-kubeconfig", file("policies.kubeconfig"), "-node", s.name); err != nil {
			return err
		}
	}
	if s.schedules {
		programs = append(programs, []string{
			"kube-scheduler", "--kubeconfig", file("kube-scheduler.kubeconfig"), "--leader-elect=false", "--bind-address=127.0.0.1",
		})
	}
	for _, words := range programs {
		if err := s.start(ended, words[0], self, words...); err != nil {
			return err
		}
	}
	return nil
}

// start runs a program with its output in a file of the folder.
func (s machineSettings) start(ended chan<- error, name, path string, arguments ...string) error {
	logFile := filepath.Join(s.dir, name+".log")
	output, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer output.Close()
	program := exec.Command(path, arguments...)
	program.Stdout, program.Stderr = output, output
	if err := program.Start(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	go func() {
		ended <- fmt.Errorf("%s ended by itself (%v); its output: %s", name, program.Wait(), logFile)
	}()
	return nil
}

func untilContainerd() error {
	var err error
	for range 200 {
		if err = command("ctr", "version"); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("containerd does not answer: %w", err)
}

func command(name string, arguments ...string) error {
	output, err := exec.Command(name, arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(arguments, " "), err, output)
	}
	return nil
}
